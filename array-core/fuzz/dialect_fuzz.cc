// Fuzzes the front end of the kernel dialect with any text. It must return a kernel that the
// verifier accepts, or an error with a message. It must never crash, and the same text must always
// give the same kernel.
//
// An input has four lines: "E" (elementwise) or "R" (reduction), in_params, out_params, and the
// types of the arguments (dtype names, "scalar" or "absent"). Then follow the kernel's texts,
// separated by lines "%%". An elementwise kernel has operation, preamble, loop_prep, after_loop; a
// reduction has map_expr, preamble, reduce_expr, post_map_expr, identity, reduce_type.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace {

using namespace arraycore;  // NOLINT(google-build-using-namespace): one target, one file

constexpr std::string_view kSeparator = "\n%%\n";

std::string_view cut(std::string_view& text, std::string_view at) {
  const std::size_t end = text.find(at);
  const std::string_view head = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + at.size());
  return head;
}

dialect::ArgumentType argument(std::string_view& words) {
  const std::string_view word = cut(words, " ");
  if (word == "scalar") return dialect::ArgumentType::scalar();
  if (word == "absent") return dialect::ArgumentType::absent();
  return dialect::ArgumentType::array(dtype_named(word).value_or(DType::float32));
}

void require(bool holds, const std::string& message) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

Result<ir::Kernel> compile(std::string_view text) {
  const bool is_reduction = cut(text, "\n") == "R";
  const auto in = dialect::parse_params(cut(text, "\n"));
  if (!in) return in.error();
  const auto out = dialect::parse_params(cut(text, "\n"));
  if (!out) return out.error();
  std::string_view words = cut(text, "\n");
  std::vector<dialect::ArgumentType> in_args;
  std::vector<dialect::ArgumentType> out_args;
  for (std::size_t k = 0; k < in->size(); ++k) in_args.push_back(argument(words));
  for (std::size_t k = 0; k < out->size(); ++k) out_args.push_back(argument(words));
  const auto types = dialect::bind_types("fuzzed", *in, *out, in_args, out_args);
  if (!types) return types.error();
  std::array<std::string, 6> texts;
  for (std::string& part : texts) part = cut(text, kSeparator);
  if (is_reduction) {
    dialect::ReductionText r;
    r.in_params = *in;
    r.out_params = *out;
    r.map_expr = texts[0];
    r.preamble = texts[1];
    r.reduce_expr = texts[2];
    r.post_map_expr = texts[3];
    r.identity = texts[4];
    r.reduce_type = texts[5];
    return dialect::compile_reduction(r, *types);
  }
  dialect::ElementwiseText e;
  e.in_params = *in;
  e.out_params = *out;
  e.operation = texts[0];
  e.preamble = texts[1];
  e.loop_prep = texts[2];
  e.after_loop = texts[3];
  return dialect::compile_elementwise(e, *types);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto kernel = compile(text);
  if (!kernel) {
    require(!kernel.error().message.empty(), "an error without a message");
    return 0;
  }
  const Status verified = ir::verify(*kernel);
  if (!verified) require(false, verified.error().message + "\n" + ir::print(*kernel));
  const auto again = compile(text);
  require(again.ok() && ir::print(*again) == ir::print(*kernel), "two compilations differ");
  return 0;
}
