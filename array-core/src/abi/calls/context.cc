#include "abi/calls/context.h"

#include <string>
#include <utility>

namespace arraycore {

namespace {

std::unique_ptr<Backend> taped(std::unique_ptr<Backend> backend, capture::Recorder& recorder,
                               std::size_t side, capture::Backends& all) {
  if (backend == nullptr) return nullptr;
  auto made = std::make_unique<capture::TapedBackend>(std::move(backend), recorder, side);
  all[side] = made.get();
  return made;
}

}  // namespace

Context::Context(std::unique_ptr<Backend> cpu, std::unique_ptr<Backend> device, ArrayTable& arrays,
                 std::optional<std::int64_t> budget_bytes)
    : arrays_(arrays),
      launcher_(taped(std::move(cpu), recorder_, 0, backends_),
                taped(std::move(device), recorder_, 1, backends_), counters_, budget_bytes) {}

Result<const Array*> Context::get(ArrayId id) const {
  if (const Array* array = arrays_.find(id)) return array;
  return Error{ErrorKind::value, "array_freed",
               "This array is gone: the library was reset or its device was lost."};
}

Result<ArrayId> Context::insert(Array array) {
  const ArrayId id = arrays_.insert(std::move(array));
  if (id != 0) return id;
  return Error{
      ErrorKind::memory, "too_many_arrays",
      "There are " + std::to_string(ArrayTable::kMaxSlots) + " arrays at once; free some of them."};
}

Status Context::let_go(std::span<const ArrayId> ids) {
  for (const ArrayId id : ids) arrays_.erase(id);
  return launcher_.reclaim();
}

Result<ArrayId> Context::create(DType dtype, const Dims& shape, const void* elements) {
  TRY(auto& array, launcher_.allocate(dtype, shape));
  TRY_DONE(elements != nullptr ? launcher_.upload(array, elements) : launcher_.fill_zero(array));
  return insert(std::move(array));
}

Status Context::read(ArrayId id, std::span<std::byte> out) {
  TRY(const auto& array, get(id));
  return launcher_.download(*array, out);
}

Result<std::optional<double>> Context::item(ArrayId id) {
  TRY(const auto& found, get(id));
  const Array& array = *found;
  const bool exact =
      !is_complex(array.dtype) && (!is_integer(array.dtype) || size_of(array.dtype) < 8);
  if (!exact || array.view.count() != 1) return std::optional<double>();
  const DType dtype = array.dtype;
  item_ = {};
  TRY_DONE(launcher_.download(
      array, std::as_writable_bytes(std::span(&item_.bits, 1)).first(size_of(dtype))));
  return ir::visit(dtype, [&](auto zero) {
    const ir::Scalar wide = ir::scalar_of(DType::float64, ir::get<decltype(zero)>(item_));
    return std::optional<double>(ir::get<double>(wide));
  });
}

Result<Description> Context::describe(ArrayId id) const {
  TRY(const auto& array, get(id));
  return Description{array->dtype, array->view};
}

Status Context::reset() {
  captures_.clear();
  arrays_.clear();
  second_result = 0;
  const Status reset = launcher_.reset();  // this releases the arrays that waiting operations hold
  counters_ = Counters{};
  return reset;
}

}  // namespace arraycore
