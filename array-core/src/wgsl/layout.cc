#include "wgsl/layout.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace arraycore::wgsl {
namespace {

constexpr int kMaxDepth = 16;  // of nested structures; WGSL allows 15

std::uint32_t round_up(std::uint32_t value, std::uint32_t to) { return (value + to - 1) / to * to; }

std::optional<DType> scalar_named(std::string_view name) {
  if (name == "f32") return DType::float32;
  if (name == "i32") return DType::int32;
  if (name == "u32") return DType::uint32;
  if (name == "f16") return DType::float16;
  return std::nullopt;
}
// Returns the type for the last letter of a name such as `vec3f`.
std::optional<DType> scalar_lettered(std::string_view letter) {
  if (letter == "f") return DType::float32;
  if (letter == "i") return DType::int32;
  if (letter == "u") return DType::uint32;
  if (letter == "h") return DType::float16;
  return std::nullopt;
}

bool is_extent(char c) { return c >= '2' && c <= '4'; }

void append(Layout& to, const Layout& part, std::uint32_t offset) {
  for (UniformSlot slot : part.slots) {
    slot.offset += offset;
    to.slots.push_back(slot);
  }
}

Layout scalar(DType dtype) {
  const auto size = static_cast<std::uint32_t>(size_of(dtype));
  return {size, size, {{0, dtype}}};
}

Layout vector(DType dtype, std::uint32_t extent) {
  const auto size = static_cast<std::uint32_t>(size_of(dtype));
  Layout layout{size * extent, size * (extent == 2 ? 2 : 4), {}};
  for (std::uint32_t k = 0; k < extent; ++k) append(layout, scalar(dtype), k * size);
  return layout;
}

Layout repeated(const Layout& element, std::uint32_t count) {
  const std::uint32_t stride = round_up(element.size, element.align);
  Layout layout{stride * count, element.align, {}};
  for (std::uint32_t k = 0; k < count; ++k) append(layout, element, k * stride);
  return layout;
}

class LayoutReader {
 public:
  LayoutReader(const Declarations& declarations, dialect::Sources& sources)
      : declarations_(declarations), sources_(sources) {}

  Layout type(Tokens tokens, int depth = 0) {
    if (tokens.empty()) return {};
    const Token& head = tokens[0];
    const std::string_view name = head.text;
    if (depth == kMaxDepth) return fail(head, "types are nested too deeply here");
    const bool has_arguments = tokens.size() >= 4 && tokens[1].is("<") && tokens.back().is(">");
    if (tokens.size() == 1) {
      if (const auto dtype = scalar_named(name)) return scalar(*dtype);
      if (const auto alias = declarations_.aliases.find(name); alias != declarations_.aliases.end())
        return type(alias->second, depth + 1);
      if (const auto found = declarations_.structures.find(name);
          found != declarations_.structures.end())
        return structure(head, found->second, depth);
      if (name.size() == 5 && name.starts_with("vec") && is_extent(name[3]))
        if (const auto dtype = scalar_lettered(name.substr(4)))
          return vector(*dtype, static_cast<std::uint32_t>(name[3] - '0'));
      if (name.size() == 7 && name.starts_with("mat") && is_matrix(name))
        if (const auto dtype = scalar_lettered(name.substr(6))) return matrix(*dtype, name);
    } else if (has_arguments) {
      const Tokens inside = tokens.subspan(2, tokens.size() - 3);
      if (name == "array") return array(head, inside, depth);
      if (inside.size() == 1) {
        // The type of a vector's or matrix's elements may be an alias.
        const Layout element = type(inside, depth + 1);
        if (sources_.failed()) return {};
        if (element.slots.size() == 1 && element.size == size_of(element.slots[0].dtype)) {
          const DType dtype = element.slots[0].dtype;
          if (name.size() == 4 && name.starts_with("vec") && is_extent(name[3]))
            return vector(dtype, static_cast<std::uint32_t>(name[3] - '0'));
          if (name.size() == 6 && name.starts_with("mat") && is_matrix(name))
            return matrix(dtype, name);
        }
      }
    }
    return fail(
        head, "'" + std::string(name) + "' is no type that a uniform block of numbers is made of");
  }

 private:
  Layout fail(const Token& where, std::string_view why) {
    refuse(sources_, where, why);
    return {};
  }
  static bool is_matrix(std::string_view name) {
    return is_extent(name[3]) && name[4] == 'x' && is_extent(name[5]);
  }
  // A matrix has the layout of an array of its columns.
  static Layout matrix(DType dtype, std::string_view name) {
    return repeated(vector(dtype, static_cast<std::uint32_t>(name[5] - '0')),
                    static_cast<std::uint32_t>(name[3] - '0'));
  }

  Layout array(const Token& head, Tokens inside, int depth) {
    std::size_t comma = inside.size();
    int open = 0;
    for (std::size_t k = 0; k < inside.size(); ++k) {
      open += inside[k].is("<") ? 1 : inside[k].is(">") ? -1 : 0;
      if (open == 0 && inside[k].is(",")) {
        comma = k;
        break;
      }
    }
    Tokens extent = inside.subspan(std::min(comma + 1, inside.size()));
    if (!extent.empty() && extent.back().is(",")) extent = extent.first(extent.size() - 1);
    const auto count = integer_of(extent, declarations_);
    if (!count || *count == 0)
      return fail(extent.empty() ? head : extent[0],
                  "the length of an array in a uniform block is a number or a constant that is "
                  "one");
    const Layout element = type(inside.first(comma), depth + 1);
    if (sources_.failed()) return {};
    if (*count > kMaxUniformBytes / std::max(element.size, 1U)) return too_large(head);
    return repeated(element, *count);
  }

  Layout structure(const Token& head, const std::vector<Member>& members, int depth) {
    if (members.empty()) return fail(head, "a structure has members");
    Layout layout;
    for (const Member& member : members) {
      Layout part = type(member.type, depth + 1);
      if (sources_.failed()) return {};
      if (!adjust(member, "align", part.align) || !adjust(member, "size", part.size)) return {};
      const std::uint32_t offset = round_up(layout.size, part.align);
      append(layout, part, offset);
      layout.align = std::max(layout.align, part.align);
      layout.size = offset + part.size;
      if (layout.size > kMaxUniformBytes) return too_large(member.name);
    }
    layout.size = round_up(layout.size, layout.align);
    return layout;
  }
  // Reads @align(n) or @size(n) into `value`, which first has the type's own alignment or size. A
  // smaller n is refused.
  bool adjust(const Member& member, std::string_view name, std::uint32_t& value) {
    const Attribute* const attribute = find(member.attributes, name);
    if (attribute == nullptr) return true;
    const auto number = integer_of(attribute->arguments, declarations_);
    if (number && *number >= value && *number <= kMaxUniformBytes) {
      value = *number;
      return true;
    }
    fail(attribute->name, "this is no number from " + std::to_string(value) + " to " +
                              std::to_string(kMaxUniformBytes));
    return false;
  }
  Layout too_large(const Token& where) {
    return fail(where, "a uniform block has at most " + std::to_string(kMaxUniformBytes) +
                           " bytes; put more into a storage buffer");
  }

  const Declarations& declarations_;
  dialect::Sources& sources_;
};

}  // namespace

Layout layout_of(Tokens type, const Declarations& declarations, dialect::Sources& sources) {
  return LayoutReader(declarations, sources).type(type);
}

}  // namespace arraycore::wgsl
