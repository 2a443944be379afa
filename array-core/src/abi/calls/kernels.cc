#include "abi/calls/kernels.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "abi/calls/functions.h"
#include "abi/calls/results.h"
#include "arraycore/arraycore.h"

namespace arraycore::calls {

namespace {

constexpr std::int32_t kArrayArgument = -1;
constexpr std::int32_t kBorrowedArgument = -2;

Error other_kind() {
  return {ErrorKind::internal, "bad_call", "A kernel was called as one of another kind."};
}

}  // namespace

Arguments read_arguments(Words& words) {
  Arguments read;
  // Each argument takes at least two words. A count for which too few words follow is refused, so a
  // wrong count reserves little memory.
  const auto count =
      static_cast<std::size_t>(words.below(static_cast<std::int32_t>(words.left() / 2) + 1));
  read.values.resize(count);
  read.ids.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::int32_t kind = words.next();
    if (kind == kArrayArgument || kind == kBorrowedArgument) {
      read.ids[k] = words.next();
      read.values[k].borrowed = kind == kBorrowedArgument;
    } else {
      read.values[k].value = read_scalar(words, kind);
    }
  }
  return read;
}

Status find_arguments(const Context& context, Arguments& arguments) {
  for (std::size_t k = 0; k < arguments.ids.size(); ++k) {
    if (!arguments.ids[k]) continue;
    TRY(const auto& array, context.get(*arguments.ids[k]));
    arguments.values[k].value.array = array;
  }
  return Done{};
}

std::optional<std::vector<std::uint32_t>> read_uniforms(Words& words) {
  const std::int32_t count = words.next();
  if (count < 0) return std::nullopt;
  if (static_cast<std::size_t>(count) > words.left()) words.below(0);  // marks them as invalid
  std::vector<std::uint32_t> uniforms;
  for (std::int32_t k = 0; words.ok() && k < count; ++k)
    uniforms.push_back(static_cast<std::uint32_t>(words.next()));
  return uniforms;
}

Result<std::int32_t> kernel_call(Context& context, Words& words) {
  UserKernels& kernels = context.kernels();
  const KernelNumber kernel = words.next();
  TRY(const auto& kind, kernels.kind_of(kernel));
  if (kind == KernelKind::raw) return other_kind();

  std::optional<std::int64_t> size;
  std::optional<Dims> axes;
  bool keep_dims = false;
  if (kind == KernelKind::elementwise) {
    if (words.flag()) size = words.integer();
  } else {
    keep_dims = words.flag();
    if (words.flag()) axes = words.dims();
  }
  Arguments in = read_arguments(words);
  const auto outs =
      static_cast<std::size_t>(words.below(static_cast<std::int32_t>(words.left()) + 1));
  std::vector<ArrayId> out_ids(outs);
  for (ArrayId& id : out_ids) id = words.next();
  TRY_DONE(words.end());
  TRY_DONE(find_arguments(context, in));
  std::vector<const Array*> out;
  for (const ArrayId id : out_ids) {
    TRY(const auto& array, context.get(id));
    out.push_back(array);
  }

  return give_all(
      context, kind == KernelKind::elementwise
                   ? kernels.run(UserKernels::Elementwise{kernel, size, in.values, out})
                   : kernels.run(UserKernels::Reduction{kernel, axes, keep_dims, in.values, out}));
}

Status raw_kernel(Context& context, std::int32_t kernel, std::int32_t x, std::int32_t y,
                  std::int32_t z, const std::optional<std::vector<std::uint32_t>>& uniforms,
                  const Arguments& arguments) {
  TRY(const auto& kind, context.kernels().kind_of(kernel));
  if (kind != KernelKind::raw) return other_kind();
  UserKernels::Raw call;
  call.kernel = kernel;
  call.groups = {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                 static_cast<std::uint32_t>(z)};
  if (uniforms) call.uniforms = *uniforms;
  call.arguments = arguments.values;
  const Status run = context.kernels().run(call);
  if (run && std::ranges::find(call.groups, 0U) == call.groups.end())
    ++context.counters().dispatches;
  return run;
}

Result<std::int32_t> kernel_result(Context& context, std::int32_t which) {
  std::vector<ArrayId>& results = context.kernels().further_results;
  if (which < 1 || static_cast<std::size_t>(which) > results.size())
    return Error{ErrorKind::internal, "bad_call",
                 "There is no further result " + std::to_string(which) + "."};
  return std::exchange(results[static_cast<std::size_t>(which - 1)], 0);
}

Result<std::int32_t> give_all(Context& context, std::span<Array> arrays) {
  std::vector<ArrayId>& further = context.kernels().further_results;
  for (const ArrayId id : further) context.release(id);
  further.clear();
  ArrayId first = 0;
  for (Array& array : arrays) {
    const auto id = context.insert(std::move(array));
    if (!id) {
      context.release(first);
      return id.error();
    }
    if (first == 0)
      first = *id;
    else
      further.push_back(*id);
  }
  return first;
}

Result<std::int32_t> make_kernel(Context& context, std::int32_t kind, std::string_view texts) {
  if (kind < AC_KERNEL_ELEMENTWISE || kind > AC_KERNEL_PROGRAM)
    return Error{ErrorKind::internal, "bad_call",
                 "There is no kernel of kind " + std::to_string(kind) + "."};
  return context.kernels().add(static_cast<KernelKind>(kind), texts);
}

}  // namespace arraycore::calls
