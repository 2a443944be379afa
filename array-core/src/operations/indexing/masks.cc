#include "operations/indexing/masks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "view/view.h"

namespace arraycore {

namespace {

using ir::Builder;
using ir::LocalRef;
using ir::Op;
using ir::ParamRef;
using ir::Value;

// The number of elements of a block. One invocation counts the true elements of a block, or
// searches a block for the true element whose position it returns.
constexpr std::int64_t kBlock = 64;

Value int32(Builder& k, std::int64_t value) { return k.integer(DType::int32, value); }

// Makes a kernel: counts[i] = the number of true elements of block i.
ir::Kernel count_trues() {
  Builder k("mask_count");
  const ParamRef mask = k.raw("mask", DType::boolean);
  const ParamRef counts = k.out("counts", DType::int32);
  const LocalRef at = k.local("at", k.loop_index() * int32(k, kBlock));
  const LocalRef end =
      k.local("end", k.apply(Op::minimum, {k.read(at) + int32(k, kBlock), k.size(mask)}));
  const LocalRef sum = k.local("sum", int32(k, 0));
  k.while_(
      k.read(at) < k.read(end),
      [&] { k.if_(k.read_at(mask, {k.read(at)}), [&] { k.set(sum, k.read(sum) + int32(k, 1)); }); },
      [&] { k.set(at, k.read(at) + int32(k, 1)); });
  k.store(counts, k.read(sum));
  return k.take();
}

// Makes a kernel: positions[i] = the C-order number of the i-th true element, or -1 if there are
// fewer. It finds the element's block by bisection and then searches the block.
ir::Kernel find_trues() {
  Builder k("mask_positions");
  const ParamRef mask = k.raw("mask", DType::boolean);
  const ParamRef sums = k.raw("sums", DType::int32);
  const ParamRef positions = k.out("positions", DType::int32);
  const Value one = int32(k, 1);
  const LocalRef low = k.local("low", int32(k, 0));
  const LocalRef high = k.local("high", k.size(sums));
  const LocalRef middle = k.local("middle", DType::int32);
  k.while_(k.read(low) < k.read(high), [&] {
    k.set(middle, (k.read(low) + k.read(high)) >> one);
    k.if_(
        k.read_at(sums, {k.read(middle)}) > k.loop_index(), [&] { k.set(high, k.read(middle)); },
        [&] { k.set(low, k.read(middle) + one); });
  });
  const LocalRef found = k.local("found", int32(k, -1));
  k.if_(k.read(low) < k.size(sums), [&] {
    const LocalRef rest = k.local("rest", k.loop_index());
    k.if_(k.read(low) > int32(k, 0),
          [&] { k.set(rest, k.read(rest) - k.read_at(sums, {k.read(low) - one})); });
    const LocalRef at = k.local("at", k.read(low) * int32(k, kBlock));
    k.while_(k.read(found) < int32(k, 0), [&] {
      k.if_(k.read_at(mask, {k.read(at)}), [&] {
        k.if_(k.read(rest) == int32(k, 0), [&] { k.set(found, k.read(at)); });
        k.set(rest, k.read(rest) - one);
      });
      k.set(at, k.read(at) + one);
    });
  });
  k.store(positions, k.read(found));
  return k.take();
}

// Makes a kernel that returns one coordinate of each position.
ir::Kernel coordinate_of() {
  Builder k("mask_coordinate");
  const ParamRef position = k.in("position", DType::int32);
  const ParamRef step = k.scalar("step", DType::int32);
  const ParamRef extent = k.scalar("extent", DType::int32);
  const ParamRef out = k.out("out", DType::int64);
  k.store(out, k.convert(DType::int64, k.read(position) / k.read(step) % k.read(extent)));
  return k.take();
}

ir::Scalar int32_scalar(std::int64_t value) { return ir::put(static_cast<std::int32_t>(value)); }

}  // namespace

Status check_numbers(std::int64_t count) {
  if (count <= std::numeric_limits<std::int32_t>::max()) return Done{};
  return Error{ErrorKind::value, "loop_too_long",
               "Indexing numbers " + std::to_string(count) +
                   " elements, and one call takes 2147483647: index parts of the array."};
}

Result<std::vector<std::byte>> host_elements(Launcher& launcher, const Array& array) {
  const std::size_t item = size_of(array.dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(array.view.count()) * item);
  if (bytes.empty()) return bytes;
  Array packed = array;
  if (!is_c_contiguous(array.view, item)) {
    TRY(auto& copied, launcher.copy(array, array.dtype));
    packed = std::move(copied);
  }
  TRY_DONE(launcher.prepare_read(packed));
  // The copy is within the memory of the CPU's back end. So it waits for no launch, and does not
  // count as a download.
  TRY_DONE(packed.storage->backend().download(packed.storage->id(), packed.view.offset, bytes));
  return bytes;
}

Result<KernelRef> Masks::count_kernel() {
  if (!count_) {
    TRY(auto& made, launcher_.prepare(count_trues()));
    count_ = made;
  }
  return *count_;
}

Result<KernelRef> Masks::find_kernel() {
  if (!find_) {
    TRY(auto& made, launcher_.prepare(find_trues()));
    find_ = made;
  }
  return *find_;
}

Result<KernelRef> Masks::coordinate_kernel() {
  if (!coordinate_) {
    TRY(auto& made, launcher_.prepare(coordinate_of()));
    coordinate_ = made;
  }
  return *coordinate_;
}

// Finds all positions in one pass over the mask in the host's memory.
Result<Array> Masks::on_host(const Array& mask) {
  TRY(const auto& bytes, host_elements(launcher_, mask));
  const Span span(launcher_.profile(), "nonzero");
  std::vector<std::int32_t> positions;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != std::byte{0}) positions.push_back(static_cast<std::int32_t>(i));
  TRY(auto& made,
      launcher_.allocate(DType::int32, Dims{static_cast<std::int64_t>(positions.size())}));
  TRY_DONE(launcher_.prepare_write(made));
  const Storage& storage = *made.storage;
  TRY_DONE(storage.backend().upload(storage.id(), 0,
                                    std::as_bytes(std::span(positions.data(), positions.size()))));
  return std::move(made);
}

Result<Array> Masks::positions(const Array& mask, std::optional<std::int64_t> count) {
  const std::int64_t elements = mask.view.count();
  TRY_DONE(check_numbers(elements));
  if (!mask.storage->backend().is_device()) return on_host(mask);
  if (elements == 0 && !count) return launcher_.allocate(DType::int32, Dims{0});

  const Dims blocks{std::max<std::int64_t>((elements + kBlock - 1) / kBlock, 1)};
  TRY(auto& counts, launcher_.allocate(DType::int32, blocks));
  TRY(const auto& counter, count_kernel());
  const std::array<Operand, 2> counted{Operand{&mask, {}}, Operand{&counts, {}}};
  TRY_DONE(launcher_.launch({counter, blocks, 0, counted}));
  const Array& sums = counts;
  TRY_DONE(scans_.add(sums, sums, ScanKind::inclusive));
  if (!count) {
    Array last = sums;
    last.view.offset += (blocks[0] - 1) * 4;
    last.view.shape.clear();
    last.view.strides.clear();
    TRY_DONE(launcher_.download(last, std::as_writable_bytes(std::span(&total_, 1))));
    count = total_;
  }
  TRY(auto& made, launcher_.allocate(DType::int32, Dims{*count}));
  TRY(const auto& finder, find_kernel());
  const std::array<Operand, 3> found{Operand{&mask, {}}, Operand{&sums, {}}, Operand{&made, {}}};
  TRY_DONE(launcher_.launch({finder, made.view.shape, 0, found}));
  return std::move(made);
}

Result<Array> Masks::coordinates(const Array& positions, const Dims& shape) {
  const std::int64_t count = positions.view.count();
  auto made = launcher_.allocate(DType::int64, Dims{count, shape.size()});
  if (!made || count == 0) return made;
  TRY(const auto& kernel, coordinate_kernel());
  std::int64_t step = 1;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    Array column = *made;
    column.view.shape = Dims{count};
    column.view.strides = Dims{made->view.strides[0]};
    column.view.offset += axis * made->view.strides[1];
    const std::array<Operand, 4> operands{
        Operand{&positions, {}}, Operand{nullptr, int32_scalar(step)},
        Operand{nullptr, int32_scalar(shape[axis])}, Operand{&column, {}}};
    TRY_DONE(launcher_.launch({kernel, column.view.shape, 0, operands}));
    step *= shape[axis];
  }
  return made;
}

}  // namespace arraycore
