#include "operations/sorter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "ir/scalar.h"
#include "ops/sorting.h"
#include "view/shape.h"

namespace arraycore {

namespace {

// ---- keys on the CPU: the same as in ops/sorting.h, but 64 bits wide

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

std::int64_t float_key(double x) {
  if (std::isnan(x)) return kLast;
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

struct OneKey {
  std::int64_t key = 0;
  std::int32_t place = 0;
  bool operator<(const OneKey& other) const {
    return key != other.key ? key < other.key : place < other.place;
  }
};
// The two keys of a complex number. The real part's key is compared first.
struct TwoKeys {
  std::int64_t high = 0;
  std::int64_t low = 0;
  std::int32_t place = 0;
  bool operator<(const TwoKeys& other) const {
    if (high != other.high) return high < other.high;
    return low != other.low ? low < other.low : place < other.place;
  }
};

template <typename T>
auto entry_of(T x, std::int32_t place) {
  if constexpr (ir::kIsComplex<T>) {
    TwoKeys entry{float_key(x.re), float_key(x.im), place};
    if (entry.low == kLast && entry.high != kLast) entry = {kLast - 1, entry.high, place};
    return entry;
  } else if constexpr (ir::kIsHalf<T>) {
    return OneKey{float_key(static_cast<double>(static_cast<float>(x))), place};
  } else if constexpr (ir::kIsFloat<T>) {
    return OneKey{float_key(x), place};
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return OneKey{static_cast<std::int64_t>(x ^ std::uint64_t{1} << 63), place};
  } else {
    return OneKey{static_cast<std::int64_t>(x), place};
  }
}

// Sorts one row: `places[i]` becomes the old position of the i-th element in sorted order.
template <typename T>
void sort_row(const std::byte* row, std::span<std::int32_t> places) {
  std::vector<decltype(entry_of(T{}, 0))> entries(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    T x;
    std::memcpy(static_cast<void*>(&x), row + i * sizeof(T), sizeof(T));
    entries[i] = entry_of(x, static_cast<std::int32_t>(i));
  }
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = entries[i].place;
}

Operand word(std::int32_t value) { return {nullptr, ir::put(value)}; }

}  // namespace

Result<KernelRef> Sorter::kernel(Kernels& kernels, DType dtype, ir::Kernel (*make)(DType)) {
  std::optional<KernelRef>& known = kernels[static_cast<std::size_t>(dtype)];
  if (known) return *known;
  auto prepared = launcher_.prepare(make(dtype));
  if (prepared) known = *prepared;
  return prepared;
}

Result<Array> Sorter::sorted(const Array& array, std::int64_t axis, SortResult result) {
  const std::array<std::int64_t, 1> own{axis};
  constexpr std::array<std::int64_t, 1> kLastAxis{-1};
  TRY(const auto& turned, move_axes(array.view, own, kLastAxis));
  const std::int64_t length = turned.shape[turned.ndim() - 1];
  const std::int64_t count = turned.count();
  if (count > std::numeric_limits<std::int32_t>::max())
    return Error{ErrorKind::value, "loop_too_long",
                 "An array that is sorted has at most 2147483647 elements."};
  Result<Array> made = [&]() -> Result<Array> {
    if (count == 0)
      return launcher_.allocate(result == SortResult::places ? DType::int64 : array.dtype,
                                turned.shape);
    TRY(auto& packed, launcher_.copy(Array{array.dtype, turned, array.storage}, array.dtype));
    packed.view = contiguous(Dims{count / length, length}, size_of(array.dtype));
    const bool on_device_now = packed.storage->backend().is_device();
    return on_device_now ? on_device(packed, result) : on_cpu(packed, result);
  }();
  if (!made) return made;
  const View whole = contiguous(turned.shape, size_of(made->dtype));
  TRY(const auto& view, move_axes(whole, kLastAxis, own));
  made->view = view;
  return made;
}

Result<Array> Sorter::on_device(const Array& rows, SortResult result) {
  const Dims& shape = rows.view.shape;
  TRY(const auto& encode, kernel(encode_, rows.dtype, ops::encode_kernel));
  TRY(const auto& keys, launcher_.allocate(ops::sort_key(rows.dtype), shape));
  const auto places = launcher_.allocate(DType::int32, shape);
  if (!places) return places;
  const std::array<Operand, 3> coded{Operand{&rows, {}}, Operand{&keys, {}}, Operand{&*places, {}}};
  TRY_DONE(launcher_.launch({encode, shape, 0, coded}));
  TRY_DONE(exchange(keys, *places));
  if (result == SortResult::places) return launcher_.copy(*places, DType::int64);

  TRY(const auto& gather, kernel(gather_, rows.dtype, ops::gather_kernel));
  TRY(auto& made, launcher_.allocate(rows.dtype, shape));
  const std::array<Operand, 3> taken{Operand{&rows, {}}, Operand{&*places, {}}, Operand{&made, {}}};
  TRY_DONE(launcher_.launch({gather, shape, 0, taken}));
  return std::move(made);
}

Status Sorter::exchange(const Array& keys, const Array& places) {
  TRY(const auto& step_kernel, kernel(exchange_, keys.dtype, ops::exchange_kernel));
  const auto length = static_cast<std::int32_t>(keys.view.shape[1]);
  for (const ops::ExchangeStep& step : ops::exchange_steps(length)) {
    const std::array<Operand, 6> operands{Operand{&keys, {}}, Operand{&places, {}}, word(step.bit),
                                          word(step.wanted),  word(step.distance),  word(length)};
    const Dims loop{keys.view.shape[0], length - step.distance};
    TRY_DONE(launcher_.launch({step_kernel, loop, 0, operands}));
  }
  return Done{};
}

Result<Array> Sorter::on_cpu(const Array& rows, SortResult result) {
  const std::size_t item = size_of(rows.dtype);
  const auto count = static_cast<std::size_t>(rows.view.count());
  const auto length = static_cast<std::size_t>(rows.view.shape[1]);
  TRY_DONE(launcher_.prepare_read(rows));
  const Storage& storage = *rows.storage;
  Span span(launcher_.profile(), "sort");
  std::vector<std::byte> elements(count * item);
  TRY_DONE(storage.backend().download(storage.id(), 0, elements));

  std::vector<std::int32_t> places(count);
  ir::visit(rows.dtype, [&](auto zero) {
    for (std::size_t first = 0; first < count; first += length)
      sort_row<decltype(zero)>(elements.data() + first * item,
                               std::span(places).subspan(first, length));
  });
  // If there is a device, this sort counts as an operation that the CPU computed in the device's
  // place; otherwise as a launch.
  ++(launcher_.raw_backend().is_device() ? counters_.cpu_ops : counters_.dispatches);
  span.dispatched();

  TRY(auto& made, launcher_.allocate(result == SortResult::places ? DType::int64 : rows.dtype,
                                     rows.view.shape));
  TRY_DONE(launcher_.prepare_write(made));
  if (result == SortResult::places) {
    // int64 arrays live on the device if there is one, so the positions are uploaded.
    const std::vector<std::int64_t> wide(places.begin(), places.end());
    TRY_DONE(made.storage->backend().is_device()
                 ? launcher_.upload(made, wide.data())
                 : made.storage->backend().upload(made.storage->id(), 0,
                                                  std::as_bytes(std::span(wide))));
    return std::move(made);
  }
  std::vector<std::byte> ordered(count * item);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = i / length * length + static_cast<std::size_t>(places[i]);
    std::memcpy(ordered.data() + i * item, elements.data() + from * item, item);
  }
  TRY_DONE(made.storage->backend().upload(made.storage->id(), 0, ordered));
  return std::move(made);
}

}  // namespace arraycore
