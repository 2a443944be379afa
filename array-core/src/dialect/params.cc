// Parses parameter lists and binds type letters.
#include <algorithm>
#include <cctype>

#include "dialect/dialect.h"

namespace arraycore::dialect {
namespace {

constexpr std::size_t kMaxParams = 256;

Error bad_params(std::string_view text, const std::string& why) {
  constexpr std::size_t kShown = 200;
  std::string shown(text.substr(0, kShown));
  if (text.size() > kShown) shown += "...";
  return {ErrorKind::value, "kernel_params", "kernel parameters '" + shown + "': " + why};
}

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(std::string_view s) {
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0])) != 0) return false;
  return std::all_of(s.begin(), s.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    while (at < text.size() && is_space(text[at])) ++at;
    const std::size_t begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > begin) out.push_back(text.substr(begin, at - begin));
  }
  return out;
}

// NumPy's other names of dtypes, as on a 64-bit machine.
std::optional<DType> dtype_of_word(std::string_view word) {
  if (word == "float") return DType::float64;
  if (word == "double") return DType::float64;
  if (word == "half") return DType::float16;
  if (word == "single") return DType::float32;
  if (word == "complex") return DType::complex128;
  if (word == "int" || word == "intp" || word == "int_" || word == "long") return DType::int64;
  if (word == "uint" || word == "uintp") return DType::uint64;
  if (word == "intc") return DType::int32;
  if (word == "uintc") return DType::uint32;
  if (word == "bool_") return DType::boolean;
  return dtype_named(word);
}

Error bad_arguments(std::string_view kernel, const std::string& why) {
  return {ErrorKind::type, "kernel_arguments", "kernel '" + std::string(kernel) + "': " + why};
}

}  // namespace

Result<std::vector<ParamSpec>> parse_params(std::string_view text) {
  std::vector<ParamSpec> out;
  if (words_of(text).empty()) return out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::vector<std::string_view> words = words_of(text.substr(at, comma - at));
    at = comma + 1;
    ParamSpec param;
    while (!words.empty() &&
           (words[0] == "raw" || words[0] == "const" || words[0] == "_non_const")) {
      param.raw = param.raw || words[0] == "raw";
      words.erase(words.begin());
    }
    if (words.size() != 2)
      return bad_params(
          text, "parameter " + std::to_string(out.size() + 1) + " is not '[raw] type name'");
    if (!is_word(words[1]))
      return bad_params(text, "'" + std::string(words[1]) + "' is not a name");
    param.name = words[1];
    if (param.name == "i" || param.name == "_ind" || param.name == "_j")
      return bad_params(text, "the name '" + param.name + "' is the loop's own");
    if (words[0].size() == 1 && std::isalpha(static_cast<unsigned char>(words[0][0])) != 0) {
      param.letter = words[0];
    } else {
      param.dtype = dtype_of_word(words[0]);
      if (!param.dtype)
        return bad_params(text,
                          "'" + std::string(words[0]) + "' is neither a dtype nor a type letter");
    }
    if (std::any_of(out.begin(), out.end(),
                    [&](const ParamSpec& p) { return p.name == param.name; }))
      return bad_params(text, "the name '" + param.name + "' occurs twice");
    if (out.size() == kMaxParams) return bad_params(text, "there are more than 256");
    out.push_back(std::move(param));
  }
  return out;
}

Result<BoundTypes> bind_types(std::string_view kernel, std::span<const ParamSpec> in,
                              std::span<const ParamSpec> out, std::span<const ArgumentType> in_args,
                              std::span<const ArgumentType> out_args) {
  if (in_args.size() != in.size() || out_args.size() != out.size())
    return bad_arguments(kernel, "takes " + std::to_string(in.size()) + " inputs and " +
                                     std::to_string(out.size()) + " outputs, not " +
                                     std::to_string(in_args.size()) + " and " +
                                     std::to_string(out_args.size()));
  BoundTypes types;
  const auto bind = [&](const ParamSpec& param, DType dtype) -> std::optional<Error> {
    DType wanted = dtype;
    if (param.dtype) {
      wanted = *param.dtype;
    } else {
      wanted = types.letters.try_emplace(param.letter, dtype).first->second;
    }
    if (wanted == dtype) return std::nullopt;
    std::string why = "argument '" + param.name + "' is " + std::string(name_of(dtype)) + ", not " +
                      std::string(name_of(wanted));
    if (!param.dtype) why += ", which '" + param.letter + "' stands for in this call";
    return bad_arguments(kernel, why);
  };
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (out_args[k].kind == ArgumentType::Kind::scalar)
      return bad_arguments(kernel, "output '" + out[k].name + "' must be an array");
    if (out_args[k].kind == ArgumentType::Kind::absent) {
      if (out[k].raw)
        return bad_arguments(
            kernel, "output '" + out[k].name + "' is raw: its shape is unknown, so pass an array");
      continue;
    }
    if (auto error = bind(out[k], out_args[k].dtype)) return *error;
  }
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (in_args[k].kind == ArgumentType::Kind::absent)
      return bad_arguments(kernel, "input '" + in[k].name + "' is missing");
    if (in_args[k].kind == ArgumentType::Kind::scalar) {
      if (in[k].raw)
        return bad_arguments(kernel, "input '" + in[k].name + "' is raw and must be an array");
      continue;
    }
    if (auto error = bind(in[k], in_args[k].dtype)) return *error;
  }
  const auto add = [&](const ParamSpec& param, bool is_scalar,
                       std::vector<BoundParam>& to) -> std::optional<Error> {
    BoundParam bound;
    if (param.dtype) {
      bound.dtype = *param.dtype;
    } else if (const auto found = types.letters.find(param.letter); found != types.letters.end()) {
      bound.dtype = found->second;
    } else {
      return bad_arguments(kernel, "no array argument tells which type '" + param.letter +
                                       "' of '" + param.name + "' is");
    }
    bound.kind = param.raw   ? ir::ParamKind::raw
                 : is_scalar ? ir::ParamKind::scalar
                             : ir::ParamKind::elementwise;
    to.push_back(bound);
    return std::nullopt;
  };
  for (std::size_t k = 0; k < in.size(); ++k)
    if (auto error = add(in[k], in_args[k].kind == ArgumentType::Kind::scalar, types.in))
      return *error;
  for (const ParamSpec& param : out)
    if (auto error = add(param, false, types.out)) return *error;
  return types;
}

}  // namespace arraycore::dialect
