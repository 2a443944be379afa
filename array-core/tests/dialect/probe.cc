// Gives Python tests the dialect's compiler and the reference interpreter by ctypes, with texts as
// C strings. It is not thread-safe: an answer is valid until the next call.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialect/dialect.h"
#include "ir/interpret.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace {

using namespace arraycore;  // NOLINT(google-build-using-namespace): a test's own file

std::string answer;
ir::Kernel kernel;

// Returns the types that a text lists: dtypes such as "float32" (for arrays), "scalar" or "absent".
Result<std::vector<dialect::ArgumentType>> argument_types(std::string_view text) {
  std::vector<dialect::ArgumentType> out;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (word == "scalar") {
      out.push_back(dialect::ArgumentType::scalar());
    } else if (word == "absent") {
      out.push_back(dialect::ArgumentType::absent());
    } else if (const auto dtype = dtype_named(word)) {
      out.push_back(dialect::ArgumentType::array(*dtype));
    } else {
      return Error{ErrorKind::internal, "probe", "no such argument type: " + std::string(word)};
    }
  }
  return out;
}

int failed(const Error& error) {
  answer = error.message;
  return static_cast<int>(error.kind);
}

}  // namespace

extern "C" {

const char* dialect_answer() { return answer.c_str(); }

// Compiles a kernel. The texts of an elementwise kernel are in_params, out_params, operation, name,
// preamble, loop_prep, after_loop; those of a reduction are in_params, out_params, map_expr, name,
// preamble, reduce_expr, post_map_expr, identity, reduce_type. Returns 0 if the kernel was
// compiled, verified and kept; the answer is then the printed kernel. Otherwise returns the
// ErrorKind.
int dialect_compile(int is_reduction, const char* const* texts, const char* in_types,
                    const char* out_types) {
  auto in = dialect::parse_params(texts[0]);
  if (!in) return failed(in.error());
  auto out = dialect::parse_params(texts[1]);
  if (!out) return failed(out.error());
  const auto in_args = argument_types(in_types);
  if (!in_args) return failed(in_args.error());
  const auto out_args = argument_types(out_types);
  if (!out_args) return failed(out_args.error());
  const auto types = dialect::bind_types(texts[3], *in, *out, *in_args, *out_args);
  if (!types) return failed(types.error());
  Result<ir::Kernel> made = Error{};
  if (is_reduction != 0) {
    dialect::ReductionText text;
    text.in_params = *std::move(in);
    text.out_params = *std::move(out);
    text.map_expr = texts[2];
    text.name = texts[3];
    text.preamble = texts[4];
    text.reduce_expr = texts[5];
    text.post_map_expr = texts[6];
    text.identity = texts[7];
    text.reduce_type = texts[8];
    made = dialect::compile_reduction(text, *types);
  } else {
    dialect::ElementwiseText text;
    text.in_params = *std::move(in);
    text.out_params = *std::move(out);
    text.operation = texts[2];
    text.name = texts[3];
    text.preamble = texts[4];
    text.loop_prep = texts[5];
    text.after_loop = texts[6];
    made = dialect::compile_elementwise(text, *types);
  }
  if (!made) return failed(made.error());
  const Status verified = ir::verify(*made);
  if (!verified) return failed(verified.error());
  kernel = *std::move(made);
  answer = ir::print(kernel);
  return 0;
}

// Runs the kept kernel. For argument k, `ndim[k]` < 0 means a scalar with the element `data[k]`;
// otherwise its shape and its strides in bytes are the next ndim[k] numbers of `shapes` and
// `strides`.
int dialect_run(int loop_ndim, const std::int64_t* loop, std::uint32_t reduced, int arguments,
                void* const* data, const int* ndim, const std::int64_t* shapes,
                const std::int64_t* strides) {
  ir::Launch launch;
  launch.reduced = reduced;
  for (int axis = 0; axis < loop_ndim; ++axis) launch.loop.push_back(loop[axis]);
  for (int k = 0; k < arguments; ++k) {
    const auto param = static_cast<std::size_t>(k);
    if (param >= kernel.params.size())
      return failed({ErrorKind::value, "probe", "too many arguments"});
    ir::Argument argument;
    if (ndim[k] < 0) {
      std::memcpy(&argument.scalar, data[k], size_of(kernel.params[param].dtype));
    } else {
      argument.base = static_cast<std::byte*>(data[k]);
      for (int axis = 0; axis < ndim[k]; ++axis) {
        argument.view.shape.push_back(*shapes++);
        argument.view.strides.push_back(*strides++);
      }
    }
    launch.arguments.push_back(argument);
  }
  const Status status = ir::interpret(kernel, launch);
  return status ? 0 : failed(status.error());
}

}  // extern "C"
