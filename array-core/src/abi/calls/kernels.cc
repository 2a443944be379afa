#include "abi/calls/kernels.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "abi/calls/calls.h"
#include "abi/calls/ufuncs.h"
#include "arraycore/arraycore.h"

namespace arraycore::calls {

namespace {

constexpr std::int32_t kArrayArgument = -1;
constexpr std::int32_t kBorrowedArgument = -2;

struct Arguments {
  std::vector<KernelArgument> arguments;
  std::vector<std::optional<ArrayId>> ids;  // none: it is a number
};

// Reads a count, then as many arguments. Arrays are looked up by found(), after all words were
// read.
Arguments read_arguments(Words& words) {
  Arguments read;
  // Each argument has at least two words, so a wrong count cannot reserve more than there is.
  const auto count =
      static_cast<std::size_t>(words.below(static_cast<std::int32_t>(words.left() / 2) + 1));
  read.arguments.resize(count);
  read.ids.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::int32_t kind = words.next();
    if (kind == kArrayArgument || kind == kBorrowedArgument) {
      read.ids[k] = words.next();
      read.arguments[k].borrowed = kind == kBorrowedArgument;
    } else {
      read.arguments[k].value = read_scalar(words, kind);
    }
  }
  return read;
}

Status found(const Context& context, Arguments& arguments) {
  for (std::size_t k = 0; k < arguments.ids.size(); ++k) {
    if (!arguments.ids[k]) continue;
    const auto array = context.get(*arguments.ids[k]);
    if (!array) return array.error();
    arguments.arguments[k].value.array = *array;
  }
  return Done{};
}

Error other_kind() {
  return {ErrorKind::internal, "bad_call", "A kernel was called as one of another kind."};
}

Result<std::int32_t> kernel_call(Context& context, Words& words) {
  UserKernels& kernels = context.kernels();
  const KernelNumber kernel = words.next();
  const auto kind = kernels.kind_of(kernel);
  if (!kind) return kind.error();
  if (*kind == KernelKind::raw) return other_kind();

  std::optional<std::int64_t> size;
  std::optional<Dims> axes;
  bool keep_dims = false;
  if (*kind == KernelKind::elementwise) {
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
  if (const Status read = words.end(); !read) return read.error();
  if (const Status arrays = found(context, in); !arrays) return arrays.error();
  std::vector<const Array*> out;
  for (const ArrayId id : out_ids) {
    const auto array = context.get(id);
    if (!array) return array.error();
    out.push_back(*array);
  }

  auto made = *kind == KernelKind::elementwise
                  ? kernels.run(UserKernels::Elementwise{kernel, size, in.arguments, out})
                  : kernels.run(UserKernels::Reduction{kernel, axes, keep_dims, in.arguments, out});
  if (!made) return made.error();
  return give_all(context, *made);
}

Result<std::int32_t> further_result(Context& context, Words& words) {
  std::vector<ArrayId>& results = context.kernels().further_results;
  const std::int32_t which = words.below(static_cast<std::int32_t>(results.size()) + 1);
  if (const Status read = words.end(); !read) return read.error();
  if (which == 0) return Error{ErrorKind::internal, "bad_call", "A result has a number from 1 on."};
  return std::exchange(results[static_cast<std::size_t>(which - 1)], 0);
}

Result<std::int32_t> raw_call(Context& context, Words& words) {
  UserKernels::Raw call;
  call.kernel = words.next();
  const auto kind = context.kernels().kind_of(call.kernel);
  if (!kind) return kind.error();
  if (*kind != KernelKind::raw) return other_kind();
  for (std::uint32_t& groups : call.groups) groups = static_cast<std::uint32_t>(words.next());
  std::vector<std::uint32_t> uniforms;
  if (const std::int32_t count = words.next(); count >= 0) {
    if (static_cast<std::size_t>(count) > words.left())
      words.below(0);  // marks the words as invalid
    for (std::int32_t k = 0; words.ok() && k < count; ++k)
      uniforms.push_back(static_cast<std::uint32_t>(words.next()));
    call.uniforms = uniforms;
  }
  Arguments arguments = read_arguments(words);
  if (const Status read = words.end(); !read) return read.error();
  if (const Status arrays = found(context, arguments); !arrays) return arrays.error();
  call.arguments = arguments.arguments;
  const Status run = context.kernels().run(call);
  if (!run) return run.error();
  if (std::ranges::find(call.groups, 0U) == call.groups.end()) ++context.counters().dispatches;
  return 0;
}

}  // namespace

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

Call find_kernel_call(std::int32_t operation) {
  switch (operation) {
    case AC_CALL_KERNEL:
      return kernel_call;
    case AC_CALL_KERNEL_RESULT:
      return further_result;
    case AC_CALL_RAW_KERNEL:
      return raw_call;
    default:
      return nullptr;
  }
}

Result<std::int32_t> make_kernel(Context& context, std::int32_t kind, std::string_view texts) {
  if (kind < AC_KERNEL_ELEMENTWISE || kind > AC_KERNEL_RAW)
    return Error{ErrorKind::internal, "bad_call",
                 "There is no kernel of kind " + std::to_string(kind) + "."};
  return context.kernels().add(static_cast<KernelKind>(kind), texts);
}

}  // namespace arraycore::calls
