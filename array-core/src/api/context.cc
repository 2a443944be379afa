#include "api/context.h"

#include <string>

#include "api/binary_kernel.h"

namespace arraycore {

namespace {

std::string text_of(const Dims& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  if (shape.size() == 1) text += ",";
  return text + ")";
}

}  // namespace

Context::Context(std::unique_ptr<Backend> backend, ArrayTable& arrays,
                 std::optional<std::int64_t> budget_bytes)
    : backend_(std::move(backend)), arrays_(arrays), budget_bytes_(budget_bytes) {}

Result<const Array*> Context::get(ArrayId id) const {
  if (const Array* array = arrays_.find(id)) return array;
  return Error{ErrorKind::value, "array_freed",
               "This array is gone: the library was reset or its device was lost."};
}

Result<Array> Context::allocate(DType dtype, const Dims& shape) {
  const auto bytes = checked_bytes(shape, size_of(dtype));
  if (!bytes) return bytes.error();
  if (budget_bytes_ && counters_.live_bytes > *budget_bytes_ - *bytes)
    return Error{ErrorKind::memory, "over_budget",
                 std::to_string(*bytes) + " bytes for an array of shape " + text_of(shape) +
                     " do not fit: " + std::to_string(counters_.live_bytes) + " of " +
                     std::to_string(*budget_bytes_) + " bytes are in use."};
  auto storage = backend_->create_storage(*bytes);
  if (!storage) return storage.error();
  return Array{dtype, contiguous(shape, size_of(dtype)),
               std::make_shared<Storage>(*backend_, counters_, *storage, *bytes)};
}

Result<ArrayId> Context::insert(Array array) {
  const ArrayId id = arrays_.insert(std::move(array));
  if (id != 0) return id;
  return Error{
      ErrorKind::memory, "too_many_arrays",
      "There are " + std::to_string(ArrayTable::kMaxSlots) + " arrays at once; free some of them."};
}

Result<ArrayId> Context::create(DType dtype, const Dims& shape, const void* elements) {
  auto array = allocate(dtype, shape);
  if (!array) return array.error();
  const Storage& storage = *array->storage;
  if (elements != nullptr) {
    const std::span bytes(static_cast<const std::byte*>(elements),
                          static_cast<std::size_t>(storage.bytes()));
    const Status uploaded = backend_->upload(storage.id(), 0, bytes);
    if (!uploaded) return uploaded.error();
    counters_.bytes_up += storage.bytes();
  } else {
    const Status filled = backend_->fill_zero(storage.id());
    if (!filled) return filled.error();
  }
  return insert(std::move(*array));
}

Status Context::read(ArrayId id, std::span<std::byte> out) {
  const auto array = get(id);
  if (!array) return array.error();
  const auto bytes = checked_bytes((*array)->view.shape, size_of((*array)->dtype));
  if (!bytes) return bytes.error();
  if (static_cast<std::int64_t>(out.size()) != *bytes)
    return Error{ErrorKind::internal, "read_size",
                 "The array has " + std::to_string(*bytes) + " bytes, the memory to read it to " +
                     std::to_string(out.size()) + "."};
  // Every array is contiguous so far; a view is copied into such a one first.
  const Status read = backend_->download((*array)->storage->id(), (*array)->view.offset, out);
  if (backend_->is_device()) ++counters_.sync_waits;
  if (read) counters_.bytes_down += *bytes;
  return read;
}

Result<Description> Context::describe(ArrayId id) const {
  const auto array = get(id);
  if (!array) return array.error();
  return Description{(*array)->dtype, (*array)->view};
}

Result<KernelId> Context::kernel(BinaryOperation operation, DType dtype,
                                 std::optional<Side> scalar) {
  const std::uint32_t side = scalar ? 1U + static_cast<std::uint32_t>(*scalar) : 0U;
  const std::uint32_t key = (static_cast<std::uint32_t>(operation) << 16) |
                            (static_cast<std::uint32_t>(dtype) << 8) | side;
  for (const auto& [known, id] : kernels_)
    if (known == key) return id;
  auto id = backend_->prepare(binary_kernel(operation, dtype, scalar));
  if (id) kernels_.emplace_back(key, *id);
  return id;
}

Result<ArrayId> Context::binary(BinaryOperation operation, ArrayId a, ArrayId b) {
  const auto left = get(a);
  if (!left) return left.error();
  const auto right = get(b);
  if (!right) return right.error();
  const DType dtype = (*left)->dtype;
  if ((*right)->dtype != dtype || dtype != DType::float32)
    return Error{ErrorKind::not_implemented, "binary_dtypes",
                 "Binary operations take two float32 arrays so far, not " +
                     std::string(name_of(dtype)) + " and " + std::string(name_of((*right)->dtype)) +
                     "."};
  if ((*left)->view.shape != (*right)->view.shape)
    return Error{ErrorKind::not_implemented, "binary_broadcast",
                 "Binary operations take arrays of one shape so far, not " +
                     text_of((*left)->view.shape) + " and " + text_of((*right)->view.shape) + "."};
  const auto prepared = kernel(operation, dtype, std::nullopt);
  if (!prepared) return prepared.error();
  return launch(*prepared, ArrayArgument{(*left)->storage->id(), (*left)->view},
                ArrayArgument{(*right)->storage->id(), (*right)->view}, dtype, (*left)->view.shape);
}

Result<ArrayId> Context::binary_scalar(BinaryOperation operation, ArrayId a, double value,
                                       Side side) {
  const auto array = get(a);
  if (!array) return array.error();
  const DType dtype = (*array)->dtype;
  if (dtype != DType::float32)
    return Error{ErrorKind::not_implemented, "binary_dtypes",
                 "Binary operations with a number take float32 arrays so far, not " +
                     std::string(name_of(dtype)) + "."};
  const auto prepared = kernel(operation, dtype, side);
  if (!prepared) return prepared.error();
  const ArrayArgument operand{(*array)->storage->id(), (*array)->view};
  const ir::Scalar scalar = ir::scalar_of(dtype, value);
  const Dims& loop = (*array)->view.shape;
  return side == Side::left ? launch(*prepared, scalar, operand, dtype, loop)
                            : launch(*prepared, operand, scalar, dtype, loop);
}

Result<ArrayId> Context::launch(KernelId kernel, LaunchArgument left, LaunchArgument right,
                                DType dtype, const Dims& loop) {
  auto out = allocate(dtype, loop);
  if (!out) return out.error();
  launch_.kernel = kernel;
  launch_.loop = loop;
  launch_.arguments.clear();
  launch_.arguments.push_back(std::move(left));
  launch_.arguments.push_back(std::move(right));
  launch_.arguments.emplace_back(ArrayArgument{out->storage->id(), out->view});
  const Status launched = backend_->launch(launch_);
  if (!launched) return launched.error();
  ++counters_.dispatches;
  return insert(std::move(*out));
}

Status Context::reset() {
  arrays_.clear();
  counters_ = Counters{};
  return backend_->reset();
}

}  // namespace arraycore
