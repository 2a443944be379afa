#include "operations/scan.h"

#include "ir/builder.h"

namespace arraycore {

Result<KernelRef> Scans::kernel(DType source, ScanKind kind) {
  std::optional<KernelRef>& known =
      kernels_[static_cast<std::size_t>(source)][static_cast<std::size_t>(kind)];
  if (known) return *known;
  ir::Builder k("scan");
  const auto x = k.in("x", source);
  const auto y = k.out("y", DType::int32);
  using Values = ir::Builder::Values;
  k.scan(
      {{k.convert(DType::int32, k.read(x)), std::nullopt}},
      [](const Values& a, const Values& b) { return Values{a[0] + b[0]}; },
      [&](const Values& running, const Values& own) {
        k.store(y, kind == ScanKind::inclusive ? running[0] : running[0] - own[0]);
      });
  auto prepared = launcher_.prepare(k.take());
  if (prepared) known = *prepared;
  return prepared;
}

Status Scans::add(const Array& target, const Array& source, ScanKind kind) {
  TRY(const auto& found, kernel(source.dtype, kind));
  const int ndim = source.view.ndim();
  const std::uint32_t all = ndim >= 32 ? ~0U : (1U << ndim) - 1U;
  const std::array<Operand, 2> operands{Operand{&source, {}}, Operand{&target, {}}};
  return launcher_.launch({found, source.view.shape, all, operands});
}

}  // namespace arraycore
