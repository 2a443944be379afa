#include "wgsl/raw_module.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dialect/source.h"
#include "wgsl/declarations.h"
#include "wgsl/layout.h"
#include "wgsl/token.h"

namespace arraycore::wgsl {
namespace {

constexpr std::size_t kMaxTextBytes = 131072;

// Replaces the bytes [offset, offset + bytes) by `text`.
struct Edit {
  std::uint32_t offset = 0;
  std::size_t bytes = 0;
  std::string text;
};

struct Bound {
  std::uint32_t number = 0;
  Token literal;  // of the number
  const Variable* variable = nullptr;
  bool is_uniform = false;
  bool written = false;
};

class ModuleReader {
 public:
  ModuleReader(std::string_view entry, std::string_view text)
      : sources_(std::string(entry)), entry_(entry) {
    sources_.add("code", text);
  }

  Result<RawModule> run() {
    const std::string_view text = sources_.text(0);
    if (text.size() > kMaxTextBytes) {
      fail({}, "the text has over " + std::to_string(kMaxTextBytes) + " bytes");
      return sources_.error();
    }
    tokens_ = tokens_of(text);
    declarations_ = read_declarations(tokens_, sources_);
    if (sources_.failed()) return sources_.error();
    RawModule module;
    bind(module);
    name_entry();
    if (sources_.failed()) return sources_.error();
    module.text = edited(text);
    return module;
  }

 private:
  void fail(const Token& where, std::string_view why) { refuse(sources_, where, why); }

  // Returns the attribute's value only if it is a literal, because the literal is rewritten in
  // place.
  std::optional<std::uint32_t> literal(const Attribute& attribute) {
    const Tokens arguments = attribute.arguments;
    if (arguments.size() == 1 && arguments[0].kind == Token::Kind::number)
      if (const auto number = integer_of(arguments, declarations_)) return number;
    fail(attribute.name, "the number of a group or binding is written out, as in @binding(1)");
    return std::nullopt;
  }

  void bind(RawModule& module) {
    std::vector<Bound> bound;
    for (const Variable& variable : declarations_.variables)
      if (const auto one = bound_of(variable)) bound.push_back(*one);
    if (sources_.failed()) return;
    std::ranges::sort(bound, {}, &Bound::number);
    for (std::size_t k = 0; k < bound.size() && !sources_.failed(); ++k) {
      const Bound& one = bound[k];
      if (k > 0 && bound[k - 1].number == one.number)
        fail(one.literal, "binding " + std::to_string(one.number) + " is there already");
      std::size_t number = 0;
      if (one.is_uniform) {
        if (module.uniform_bytes > 0)
          fail(one.variable->name, "there is a uniform block already; make one structure of both");
        Layout layout = layout_of(one.variable->type, declarations_, sources_);
        if (layout.size > kMaxUniformBytes)
          fail(one.variable->name,
               "a uniform block has at most " + std::to_string(kMaxUniformBytes) + " bytes");
        module.uniform_bytes = layout.size;
        module.uniforms = std::move(layout.slots);
      } else {
        module.bindings.push_back({std::string(one.variable->name.text), one.written});
        number = module.bindings.size();
      }
      edits_.push_back({one.literal.offset, one.literal.text.size(), std::to_string(number)});
    }
  }

  // Returns the binding of a resource; nullopt for any other variable, and after an error.
  std::optional<Bound> bound_of(const Variable& variable) {
    const Attribute* const group = find(variable.attributes, "group");
    const Attribute* const binding = find(variable.attributes, "binding");
    const bool is_storage = !variable.space.empty() && variable.space[0].is("storage");
    const bool is_uniform = !variable.space.empty() && variable.space[0].is("uniform");
    if (group == nullptr && binding == nullptr && !is_storage && !is_uniform) return std::nullopt;
    if (group == nullptr || binding == nullptr) {
      fail(variable.name, "a resource has @group(0) and @binding(number)");
      return std::nullopt;
    }
    if (!is_storage && !is_uniform) {
      fail(variable.name, "a kernel binds arrays (var<storage>) and numbers (var<uniform>) only");
      return std::nullopt;
    }
    const auto group_number = literal(*group);
    const auto number = literal(*binding);
    if (!group_number || !number) return std::nullopt;
    if (*group_number != 0) {
      fail(group->name, "every binding is in group 0");
      return std::nullopt;
    }
    Bound bound{*number, binding->arguments[0], &variable, is_uniform, false};
    if (variable.space.size() == 1 && variable.space[0].kind == Token::Kind::identifier)
      return bound;
    if (is_storage && variable.space.size() == 3 && variable.space[1].is(",")) {
      bound.written = variable.space[2].is("read_write");
      if (bound.written || variable.space[2].is("read")) return bound;
    }
    fail(variable.space[0], "arrays are bound as var<storage, read> or var<storage, read_write>");
    return std::nullopt;
  }

  // Renames the entry point to `main`. Anything else that is named `main` gets another name.
  void name_entry() {
    const auto entry = std::ranges::find_if(declarations_.functions,
                                            [&](const EntryPoint& f) { return f.name.is(entry_); });
    if (entry == declarations_.functions.end())
      return fail(tokens_.back(), "there is no function '" + std::string(entry_) + "'");
    if (!entry->is_compute) return fail(entry->name, "a kernel's function has @compute");
    if (entry_ == "main") return;
    std::string other = "main_";
    while (std::ranges::any_of(tokens_, [&](const Token& token) { return token.is(other); }))
      other += '_';
    for (const Token& token : tokens_) {
      if (token.kind != Token::Kind::identifier) continue;
      if (token.is(entry_)) edits_.push_back({token.offset, token.text.size(), "main"});
      if (token.is("main")) edits_.push_back({token.offset, token.text.size(), other});
    }
  }

  std::string edited(std::string_view text) {
    std::ranges::sort(edits_, {}, &Edit::offset);
    std::string out;
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      out += text.substr(at, edit.offset - at);
      out += edit.text;
      at = edit.offset + edit.bytes;
    }
    out += text.substr(at);
    return out;
  }

  dialect::Sources sources_;
  std::string_view entry_;
  std::vector<Token> tokens_;
  Declarations declarations_;
  std::vector<Edit> edits_;
};

}  // namespace

Result<RawModule> read_raw_module(std::string_view entry, std::string_view text) {
  return ModuleReader(entry, text).run();
}

}  // namespace arraycore::wgsl
