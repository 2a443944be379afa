#include "api/scan.h"

#include <utility>

#include "ir/builder.h"

namespace arraycore {

namespace {

using ir::Builder;
using ir::LocalRef;
using ir::Value;

// Elements that one invocation sums one after the other.
constexpr std::int64_t kChunk = 64;

// for (j = first; j < min(first + kChunk, count); ++j) body(j), of chunk number `loop_index`.
template <typename Body>
void over_chunk(Builder& k, ir::ParamRef source, Body body) {
  const Value length = k.integer(DType::int32, kChunk);
  const LocalRef j = k.local("j", k.loop_index() * length);
  const LocalRef end =
      k.local("end", k.apply(ir::Op::minimum, {k.read(j) + length, k.size(source)}));
  k.while_(
      k.read(j) < k.read(end), [&] { body(k.read(j)); },
      [&] { k.set(j, k.read(j) + k.integer(DType::int32, 1)); });
}

ir::Kernel totals_kernel(DType dtype) {
  Builder k("scan_totals");
  const auto source = k.raw("source", dtype);
  const auto total = k.out("total", DType::int32);
  const LocalRef sum = k.local("sum", DType::int32);
  over_chunk(k, source, [&](const Value& j) {
    k.set(sum, k.read(sum) + k.convert(DType::int32, k.read_at(source, {j})));
  });
  k.store(total, k.read(sum));
  return k.take();
}

ir::Kernel scan_kernel(DType dtype, ScanKind kind) {
  Builder k("scan");
  const auto before = k.in("before", DType::int32);
  const auto source = k.raw("source", dtype);
  const auto target = k.raw("target", DType::int32, ir::Access::write);
  const LocalRef sum = k.local("sum", k.read(before));
  const LocalRef one = k.local("one", DType::int32);
  over_chunk(k, source, [&](const Value& j) {
    k.set(one, k.convert(DType::int32, k.read_at(source, {j})));
    if (kind == ScanKind::exclusive) k.store_at(target, {j}, k.read(sum));
    k.set(sum, k.read(sum) + k.read(one));
    if (kind == ScanKind::inclusive) k.store_at(target, {j}, k.read(sum));
  });
  return k.take();
}

}  // namespace

Result<const Scans::Kernels*> Scans::kernels(DType source) {
  std::optional<Kernels>& known = kernels_[static_cast<std::size_t>(source)];
  if (known) return &*known;
  Kernels made;
  const auto totals = launcher_.prepare(totals_kernel(source));
  if (!totals) return totals.error();
  made.totals = *totals;
  for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
    const auto scan = launcher_.prepare(scan_kernel(source, kind));
    if (!scan) return scan.error();
    made.scan[static_cast<std::size_t>(kind)] = *scan;
  }
  known = made;
  return &*known;
}

// Sums of chunks, what comes before each chunk, then each chunk from there on.
Status Scans::add(const Array& target, const Array& source, ScanKind kind) {
  const std::int64_t count = source.view.count();
  if (count == 0) return Done{};
  const auto found = kernels(source.dtype);
  if (!found) return found.error();
  const std::int64_t chunks = (count + kChunk - 1) / kChunk;
  const auto before = launcher_.allocate(DType::int32, {chunks});
  if (!before) return before.error();
  if (chunks == 1) {
    if (const Status zero = launcher_.fill_zero(*before); !zero) return zero;
  } else {
    const auto totals = launcher_.allocate(DType::int32, {chunks});
    if (!totals) return totals.error();
    const std::array<Operand, 2> sums{Operand{&source, {}}, Operand{&*totals, {}}};
    if (const Status s = launcher_.launch({(*found)->totals, {chunks}, 0, sums}); !s) return s;
    if (const Status s = add(*before, *totals, ScanKind::exclusive); !s) return s;
  }
  const std::array<Operand, 3> operands{Operand{&*before, {}}, Operand{&source, {}},
                                        Operand{&target, {}}};
  return launcher_.launch({(*found)->scan[static_cast<std::size_t>(kind)], {chunks}, 0, operands});
}

}  // namespace arraycore
