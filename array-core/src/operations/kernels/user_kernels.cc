#include "operations/kernels/user_kernels.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/read.h"
#include "ir/verify.h"
#include "operations/reduced_axes.h"
#include "view/messages.h"
#include "view/shape.h"

namespace arraycore {
namespace {

// The low bits of a kernel's number are its index. The high bits count the instances of this class,
// so that a number from a closed library is not valid in a library that is opened later.
constexpr int kPlaceBits = 20;
constexpr std::uint32_t kInstances = 1U << (31 - kPlaceBits);
constexpr std::size_t kMaxKernels = std::size_t{1} << kPlaceBits;

KernelNumber next_first() {
  static std::uint32_t instances = 0;
  return static_cast<KernelNumber>((instances++ % kInstances) << kPlaceBits);
}

// Stands for a scalar in a key of types; the lower numbers are those of dtypes.
constexpr std::uint64_t kScalarType = 14;
constexpr std::uint64_t kAbsentType = 15;
static_assert(kDTypes <= kScalarType);

Error bad_value(std::string code, const std::string& kernel, const std::string& why) {
  return {ErrorKind::value, std::move(code), "kernel '" + kernel + "': " + why};
}

// Splits the text into fields, each of which ends with a zero byte. Returns nullopt if the text
// does not have exactly `count` fields.
std::optional<std::vector<std::string>> fields_of(std::string_view texts, std::size_t count) {
  std::vector<std::string> fields;
  while (!texts.empty()) {
    const std::size_t end = texts.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    fields.emplace_back(texts.substr(0, end));
    texts.remove_prefix(end + 1);
  }
  if (fields.size() != count) return std::nullopt;
  return fields;
}

// Broadcasts the loop's shape with the shape of one more array. If the loop has no shape yet, it
// gets the array's.
Status broaden(Dims& loop, bool& decided, const Dims& shape) {
  if (!decided) {
    loop = shape;
    decided = true;
  } else if (!(loop == shape)) {
    const std::array<Dims, 2> both{loop, shape};
    TRY(auto& joined, broadcast_shapes(both));
    loop = joined;
  }
  return Done{};
}

// Broadcasts the loop's shape with the shapes of all elementwise inputs.
Status broaden(Dims& loop, bool& decided, std::span<const dialect::ParamSpec> params,
               std::span<const KernelArgument> in) {
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (in[k].value.array == nullptr || params[k].raw) continue;
    TRY_DONE(broaden(loop, decided, in[k].value.array->view.shape));
  }
  return Done{};
}

Result<std::int64_t> loop_count(const std::string& kernel, const Dims& loop) {
  const auto count = checked_count(loop);
  if (count && *count > std::numeric_limits<std::int32_t>::max())
    return bad_value("loop_too_long", kernel, "a loop has at most 2147483647 elements");
  return count;
}

}  // namespace

UserKernels::UserKernels(Launcher& launcher) : launcher_(launcher), first_(next_first()) {}

Result<KernelNumber> UserKernels::add(KernelKind kind, std::string_view texts) {
  std::string key(1, static_cast<char>(kind));
  key += texts;
  if (const auto known = by_text_.find(key); known != by_text_.end()) return known->second;
  constexpr std::array<std::size_t, 4> kFields{7, 9, 2, 2};
  auto fields = fields_of(texts, kFields[static_cast<std::size_t>(kind)]);
  if (!fields)
    return Error{ErrorKind::internal, "bad_call",
                 "A kernel was made of texts that are not its own."};
  if (kernels_.size() == kMaxKernels)
    return Error{ErrorKind::memory, "too_many_kernels",
                 "There are " + std::to_string(kMaxKernels) +
                     " kernels of different texts; pass what differs as arguments."};
  std::vector<std::string>& text = *fields;
  Kernel kernel;
  kernel.kind = kind;
  kernel.name = text[0];
  if (kind == KernelKind::raw) {
    TRY(auto& raw, wgsl::read_raw_module(text[0], text[1]));
    kernel.raw = std::move(raw);
  } else if (kind == KernelKind::program) {
    TRY_DONE(read_program(text[1], kernel));
  } else {
    TRY(auto& in, dialect::parse_params(text[1]));
    TRY(auto& out, dialect::parse_params(text[2]));
    for (const dialect::ParamSpec& one : out)
      if (std::ranges::any_of(in, [&](const auto& other) { return other.name == one.name; }))
        return Error{
            ErrorKind::value, "kernel_params",
            "kernel '" + text[0] + "': the name '" + one.name + "' is an input's and an output's"};
    if (kind == KernelKind::elementwise)
      kernel.elementwise = {std::move(in), std::move(out), text[3], text[0],
                            text[4],       text[5],        text[6]};
    else
      kernel.reduction = {std::move(in), std::move(out), text[3], text[4], text[5],
                          text[6],       text[0],        text[7], text[8]};
  }
  const auto number =
      static_cast<KernelNumber>(first_ + static_cast<KernelNumber>(kernels_.size()));
  kernels_.push_back(std::move(kernel));
  by_text_.emplace(std::move(key), number);
  return number;
}

Status UserKernels::read_program(const std::string& text, Kernel& kernel) {
  TRY(auto& read, ir::read_kernel(kernel.name, text));
  TRY_DONE(ir::verify(read.kernel));
  kernel.kind = read.kernel.reduction ? KernelKind::reduction : KernelKind::elementwise;
  std::vector<dialect::ParamSpec> in;
  std::vector<dialect::ParamSpec> out;
  for (const ir::Param& param : read.kernel.params) {
    const bool is_input = in.size() < read.inputs;
    if (is_input == ir::is_written(param))
      return Error{ErrorKind::internal, "bad_kernel",
                   "kernel '" + kernel.name + "': '" + param.name +
                       (is_input ? "' is an input and is written." : "' is an output and is not.")};
    dialect::ParamSpec spec;
    spec.name = param.name;
    spec.dtype = param.dtype;
    spec.raw = param.kind == ir::ParamKind::raw;
    (is_input ? in : out).push_back(std::move(spec));
  }
  if (kernel.kind == KernelKind::elementwise) {
    kernel.elementwise.in_params = std::move(in);
    kernel.elementwise.out_params = std::move(out);
  } else {
    kernel.reduction.in_params = std::move(in);
    kernel.reduction.out_params = std::move(out);
  }
  kernel.program = std::move(read.kernel);
  return Done{};
}

// Returns the kernel for the types of a call, compiled from its texts or as Python wrote it.
Result<ir::Kernel> UserKernels::body_of(const Kernel& kernel, const dialect::BoundTypes& bound) {
  if (!kernel.program)
    return kernel.kind == KernelKind::elementwise
               ? dialect::compile_elementwise(kernel.elementwise, bound)
               : dialect::compile_reduction(kernel.reduction, bound);
  for (std::size_t k = 0; k < bound.in.size(); ++k) {
    const ir::Param& param = kernel.program->params[k];
    if (bound.in[k].kind != param.kind)
      return bad_arguments(kernel, "argument '" + param.name + "' is an array where a number was " +
                                       "compiled, or the reverse");
  }
  return *kernel.program;
}

Result<KernelKind> UserKernels::kind_of(KernelNumber kernel) const {
  if (kernel >= first_ && static_cast<std::size_t>(kernel - first_) < kernels_.size())
    return kernels_[static_cast<std::size_t>(kernel - first_)].kind;
  return Error{ErrorKind::value, "unknown_kernel",
               "This kernel was made before the library was closed: make it anew."};
}

Result<const UserKernels::Compiled*> UserKernels::compiled(Kernel& kernel,
                                                           std::span<const KernelArgument> in,
                                                           std::span<const Array* const> out) {
  const std::size_t ins = kernel.in_params().size();
  const std::size_t outs = kernel.out_params().size();
  if (in.size() == ins && (out.empty() || out.size() == outs)) {
    types_.assign((ins + outs + 15) / 16, 0);
    std::size_t place = 0;
    const auto note = [&](std::uint64_t type) {
      types_[place / 16] |= type << place % 16 * 4;
      ++place;
    };
    for (const KernelArgument& argument : in)
      note(argument.value.array ? static_cast<std::uint64_t>(argument.value.array->dtype)
                                : kScalarType);
    for (std::size_t k = 0; k < outs; ++k)
      note(out.empty() ? kAbsentType : static_cast<std::uint64_t>(out[k]->dtype));
    for (const Compiled& known : kernel.compiled)
      if (known.types == types_) return &known;
  }
  TRY(auto& fresh, compile(kernel, in, out));
  fresh.types = types_;
  kernel.compiled.push_back(std::move(fresh));
  return &kernel.compiled.back();
}

Result<UserKernels::Compiled> UserKernels::compile(const Kernel& kernel,
                                                   std::span<const KernelArgument> in,
                                                   std::span<const Array* const> out) {
  using dialect::ArgumentType;
  std::vector<ArgumentType> in_types;
  for (const KernelArgument& argument : in)
    in_types.push_back(argument.value.array ? ArgumentType::array(argument.value.array->dtype)
                                            : ArgumentType::scalar());
  std::vector<ArgumentType> out_types(out.empty() ? kernel.out_params().size() : 0,
                                      ArgumentType::absent());
  for (const Array* array : out) out_types.push_back(ArgumentType::array(array->dtype));
  TRY(const auto& bound, dialect::bind_types(kernel.name, kernel.in_params(), kernel.out_params(),
                                             in_types, out_types));
  TRY(auto& body, body_of(kernel, bound));
  TRY_DONE(ir::verify(body));
  Compiled compiled;
  for (const dialect::BoundParam& param : bound.in) compiled.dtypes.push_back(param.dtype);
  for (const dialect::BoundParam& param : bound.out) compiled.dtypes.push_back(param.dtype);
  compiled.has_identity = !body.reduction || body.reduction->has_identity();
  TRY(const auto& prepared, launcher_.prepare(std::move(body)));
  compiled.kernel = prepared;
  return compiled;
}

Status UserKernels::launch(const Kernel& kernel, const Compiled& compiled, const Dims& loop,
                           std::uint32_t reduced, std::span<const KernelArgument> in,
                           std::span<const Array* const> out, bool into_given) {
  operands_.clear();
  for (std::size_t k = 0; k < in.size(); ++k) {
    Operand& operand = operands_.emplace_back();
    operand.array = in[k].value.array;
    if (operand.array != nullptr) continue;
    const UFuncOperand& number = in[k].value;
    const DType dtype = compiled.dtypes[k];
    const bool complex =
        number.python ? number.python == PythonScalar::complex : is_complex(number.dtype);
    if (complex && !is_complex(dtype))
      return bad_arguments(kernel, "argument '" + kernel.in_params()[k].name +
                                       "' is complex, and " + std::string(name_of(dtype)) +
                                       " is not");
    TRY(const auto& scalar, value_for(number, dtype));
    operand.scalar = scalar;
  }
  for (const Array* array : out) operands_.push_back({array, {}});
  return launcher_.launch({compiled.kernel, loop, reduced, operands_, into_given});
}

Result<std::vector<Array>> UserKernels::run(const Elementwise& call) {
  Kernel& kernel = at(call.kernel);
  TRY(const auto& found, compiled(kernel, call.in, call.out));
  const auto& in_params = kernel.in_params();
  const auto& out_params = kernel.out_params();

  Dims loop;
  bool decided = false;
  TRY_DONE(broaden(loop, decided, in_params, call.in));
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    if (out_params[k].raw) continue;
    TRY_DONE(broaden(loop, decided, call.out[k]->view.shape));
  }
  if (call.size) {
    if (decided)
      return bad_value("kernel_size", kernel.name,
                       "'size' is for calls whose arrays are all raw; the others tell it here");
    loop = {*call.size};
  } else if (!decided) {
    return bad_value("loop_undecided", kernel.name,
                     "no array tells how many elements there are; pass size=");
  }
  TRY(const auto& count, loop_count(kernel.name, loop));
  for (std::size_t k = 0; k < call.out.size(); ++k) {
    TRY_DONE(Launcher::writable(*call.out[k]));
    if (!out_params[k].raw && !(call.out[k]->view.shape == loop))
      return bad_value("out_shape", kernel.name,
                       "output '" + out_params[k].name + "' has shape " +
                           shape_text(call.out[k]->view.shape) + ", and the loop " +
                           shape_text(loop));
  }

  std::vector<Array> made;
  std::vector<const Array*> out(call.out.begin(), call.out.end());
  if (out.empty()) {
    made.reserve(out_params.size());
    for (std::size_t k = 0; k < out_params.size(); ++k) {
      TRY(auto& array, launcher_.allocate(found->dtypes[in_params.size() + k], loop));
      made.push_back(std::move(array));
      out.push_back(&made.back());
    }
  }
  if (count > 0) TRY_DONE(launch(kernel, *found, loop, 0, call.in, out, made.empty()));
  return made;
}

Result<std::vector<Array>> UserKernels::run(const Reduction& call) {
  Kernel& kernel = at(call.kernel);
  TRY(const auto& found, compiled(kernel, call.in, call.out));
  const auto& in_params = kernel.in_params();
  const auto& out_params = kernel.out_params();

  Dims loop;
  bool decided = false;
  TRY_DONE(broaden(loop, decided, in_params, call.in));
  if (!decided)
    return bad_value("loop_undecided", kernel.name, "no array tells which elements are reduced");
  TRY(const auto& reduced, axis_bits(call.axes, loop.size()));
  TRY(const auto& count, loop_count(kernel.name, loop));

  // The shape of the results: the loop's shape without the reduced axes.
  Dims rows;
  Dims shown;
  for (int axis = 0; axis < loop.size(); ++axis) {
    const bool gone = (reduced >> axis & 1U) != 0;
    if (!gone) rows.push_back(loop[axis]);
    if (!gone || call.keep_dims) shown.push_back(gone ? 1 : loop[axis]);
  }
  const bool has_rows = std::ranges::none_of(rows, [](std::int64_t extent) { return extent == 0; });
  if (has_rows && count == 0 && !found->has_identity)
    return bad_value("empty_reduction", kernel.name,
                     "a reduction of no elements needs an identity, and it has none");

  std::vector<Array> arrays;  // the outputs, as the launch uses them
  arrays.reserve(out_params.size());
  std::vector<const Array*> out;
  for (std::size_t k = 0; k < out_params.size(); ++k) {
    if (call.out.empty()) {
      TRY(auto& array, launcher_.allocate(found->dtypes[in_params.size() + k], rows));
      arrays.push_back(std::move(array));
      out.push_back(&arrays.back());
      continue;
    }
    const Array& given = *call.out[k];
    TRY_DONE(Launcher::writable(given));
    out.push_back(&given);
    if (out_params[k].raw) continue;
    if (!(given.view.shape == shown))
      return bad_value("out_shape", kernel.name,
                       "output '" + out_params[k].name + "' has shape " +
                           shape_text(given.view.shape) + ", and the result " + shape_text(shown));
    if (call.keep_dims) {
      arrays.push_back({given.dtype, without_axes(given.view, reduced), given.storage});
      out.back() = &arrays.back();
    }
  }
  if (has_rows) TRY_DONE(launch(kernel, *found, loop, reduced, call.in, out));
  if (!call.out.empty()) return std::vector<Array>{};
  if (call.keep_dims)
    for (Array& array : arrays) array.view = with_axes(array.view, reduced, loop.size());
  return arrays;
}

}  // namespace arraycore
