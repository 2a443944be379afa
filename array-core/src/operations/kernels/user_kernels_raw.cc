// Runs kernels that users write in WGSL.
#include <algorithm>
#include <utility>

#include "operations/kernels/user_kernels.h"
#include "view/overlap.h"

namespace arraycore {
namespace {

constexpr std::uint32_t kBlockBytes = 16;  // a uniform block's size is a multiple of this

std::uint32_t block_bytes(std::uint32_t bytes) {
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

// Returns whether the device can bind the array as it is: the array is C-ordered and fills its
// storage.
bool fills_its_storage(const Array& array) {
  const std::size_t item = size_of(array.dtype);
  return array.view.offset == 0 && is_c_contiguous(array.view, item) &&
         array.storage->bytes() == array.view.count() * static_cast<std::int64_t>(item);
}

// Returns whether the number may be stored as `dtype` in a uniform block. A float may not be stored
// as an integer.
bool is_of_kind(const UFuncOperand& number, DType dtype) {
  if (number.python) {
    if (is_integer(dtype)) return number.python == PythonScalar::integer;
    return number.python != PythonScalar::complex;
  }
  if (is_integer(dtype)) return is_integer(number.dtype) || number.dtype == DType::boolean;
  return !is_complex(number.dtype);
}

std::string names_of(const std::vector<wgsl::StorageBinding>& bindings) {
  std::string names;
  for (const wgsl::StorageBinding& binding : bindings)
    names += (names.empty() ? "'" : ", '") + binding.name + "'";
  return names.empty() ? "" : " (" + names + ")";
}

}  // namespace

Status UserKernels::fill_uniforms(const Kernel& kernel, const Raw& call) {
  const std::uint32_t bytes = kernel.raw.uniform_bytes;
  const auto& slots = kernel.raw.uniforms;
  std::vector<std::uint32_t>& words = raw_launch_.uniforms;
  words.assign(block_bytes(bytes) / 4, 0);
  const auto numbers = static_cast<std::size_t>(std::ranges::count_if(
      call.arguments,
      [](const KernelArgument& argument) { return argument.value.array == nullptr; }));
  if (call.uniforms) {
    if (numbers > 0)
      return bad_arguments(kernel, "numbers are either arguments or in 'uniforms', not both");
    // The caller may leave out the padding after the last number of the uniform block.
    const std::uint32_t needed =
        slots.empty()
            ? 0
            : slots.back().offset + static_cast<std::uint32_t>(size_of(slots.back().dtype));
    const std::size_t given = call.uniforms->size() * 4;
    if (given < needed || given > (bytes + 3) / 4 * 4)
      return Error{ErrorKind::value, "uniform_size",
                   "kernel '" + kernel.name + "': the uniform block has " + std::to_string(bytes) +
                       " bytes, and " + std::to_string(given) + " were given"};
    std::ranges::copy(*call.uniforms, words.begin());
    return Done{};
  }
  if (numbers != slots.size())
    return bad_arguments(kernel, "the uniform block holds " + std::to_string(slots.size()) +
                                     " numbers, and " + std::to_string(numbers) + " were given");
  std::size_t next = 0;
  for (const KernelArgument& argument : call.arguments) {
    if (argument.value.array != nullptr) continue;
    const wgsl::UniformSlot& slot = slots[next++];
    if (!is_of_kind(argument.value, slot.dtype))
      return bad_arguments(kernel, "number " + std::to_string(next) + " of the uniform block is " +
                                       std::string(name_of(slot.dtype)));
    TRY(const auto& value, value_for(argument.value, slot.dtype));
    words[slot.offset / 4] |= static_cast<std::uint32_t>(value.bits) << slot.offset % 4 * 8;
  }
  return Done{};
}

Status UserKernels::run(const Raw& call) {
  Kernel& kernel = at(call.kernel);
  Backend& backend = launcher_.raw_backend();
  const auto& bindings = kernel.raw.bindings;
  if (!kernel.raw_kernel) {
    RawText text{kernel.raw.text, kernel.name, 0, static_cast<std::uint32_t>(bindings.size()), 0};
    text.uniform_bytes = block_bytes(kernel.raw.uniform_bytes);
    for (std::size_t k = 0; k < bindings.size() && k < 32; ++k)
      if (bindings[k].written) text.read_write_mask |= 1U << k;
    TRY(const auto& prepared, backend.prepare_raw(text));
    kernel.raw_kernel = prepared;
  }

  std::vector<const Array*> arrays;
  for (const KernelArgument& argument : call.arguments) {
    if (argument.value.array == nullptr) continue;
    const std::size_t place = arrays.size();
    arrays.push_back(argument.value.array);
    if (place >= bindings.size()) continue;
    if (bindings[place].written) TRY_DONE(Launcher::writable(*argument.value.array));
    if (argument.borrowed && bindings[place].written)
      return bad_arguments(
          kernel, "it writes '" + bindings[place].name + "', so pass an array of arraycore's");
    if (!on_gpu(argument.value.array->dtype))
      return bad_arguments(kernel, "'" + bindings[place].name + "' is " +
                                       std::string(name_of(argument.value.array->dtype)) +
                                       ", which no GPU of a browser has");
  }
  if (arrays.size() != bindings.size())
    return bad_arguments(kernel, "it binds " + std::to_string(bindings.size()) + " arrays" +
                                     names_of(bindings) + ", and " + std::to_string(arrays.size()) +
                                     " were given");
  TRY_DONE(fill_uniforms(kernel, call));
  if (std::ranges::find(call.groups, 0U) != call.groups.end()) return Done{};
  raw_launch_.kernel = *kernel.raw_kernel;
  raw_launch_.groups = call.groups;
  return bind(kernel, arrays);
}

// Launches the kernel. Bindings are whole storages. So an array that is a part of its storage, or
// is not C-ordered, is bound as a copy, and the copy is written back if the kernel writes it.
Status UserKernels::bind(const Kernel& kernel, std::span<const Array* const> arrays) {
  const auto& bindings = kernel.raw.bindings;
  std::vector<Array> copies;
  copies.reserve(arrays.size());
  std::vector<const Array*> copied(arrays.size(), nullptr);
  const auto copy = [&](std::size_t k) -> Status {
    TRY(auto& made, launcher_.copy(*arrays[k], arrays[k]->dtype));
    copies.push_back(std::move(made));
    copied[k] = &copies.back();
    return Done{};
  };
  for (std::size_t k = 0; k < arrays.size(); ++k)
    if (!fills_its_storage(*arrays[k])) TRY_DONE(copy(k));
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    if (!bindings[k].written) continue;
    for (std::size_t other = 0; other < arrays.size(); ++other) {
      if (other == k || arrays[other]->storage != arrays[k]->storage) continue;
      const bool both_whole = copied[k] == nullptr && copied[other] == nullptr;
      if (bindings[other].written) {
        const std::size_t item = size_of(arrays[k]->dtype);
        const std::size_t other_item = size_of(arrays[other]->dtype);
        if (both_whole ||
            overlap(arrays[k]->view, item, arrays[other]->view, other_item) != Overlap::disjoint)
          return Error{ErrorKind::value, "kernel_overlap",
                       "kernel '" + kernel.name + "': '" + bindings[k].name + "' and '" +
                           bindings[other].name + "' are written and share elements"};
      } else if (both_whole) {
        // A device cannot bind one buffer for reading and for writing, so one array is copied.
        TRY_DONE(copy(other));
      }
    }
  }
  raw_launch_.bindings.clear();
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const Array& bound = copied[k] != nullptr ? *copied[k] : *arrays[k];
    TRY_DONE(bindings[k].written ? launcher_.prepare_write(bound) : launcher_.prepare_read(bound));
    raw_launch_.bindings.push_back(bound.storage->id());
  }
  Span span(launcher_.profile(), kernel.name);
  TRY_DONE(launcher_.raw_backend().launch_raw(raw_launch_));
  for (std::size_t k = 0; k < arrays.size(); ++k)
    if (bindings[k].written && copied[k] != nullptr)
      TRY_DONE(launcher_.assign(*arrays[k], *copied[k]));
  return Done{};
}

}  // namespace arraycore
