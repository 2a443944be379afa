#include "operations/random_arrays.h"

#include <limits>
#include <span>

namespace arraycore {

Result<KernelRef> RandomArrays::kernel(ops::Distribution distribution, DType dtype) {
  std::optional<KernelRef>& known =
      kernels_[static_cast<std::size_t>(distribution) * kDTypes + static_cast<std::size_t>(dtype)];
  if (known) return *known;
  auto prepared = launcher_.prepare(ops::random_kernel(distribution, dtype));
  if (prepared) known = *prepared;
  return prepared;
}

Result<Array> RandomArrays::make(const RandomRequest& request) {
  TRY(auto& made, launcher_.allocate(request.dtype, request.shape));
  const std::int64_t count = made.view.count();
  if (count > std::numeric_limits<std::int32_t>::max())
    return Error{ErrorKind::value, "loop_too_long",
                 "Random arrays have at most 2147483647 elements."};
  if (count == 0) return std::move(made);
  TRY(const auto& drawing, kernel(request.distribution, request.dtype));
  const auto word = [](std::uint32_t value) { return Operand{nullptr, ir::put(value)}; };
  const bool takes_array = ops::takes_array(request.distribution);
  const Operand result{&made, {}};
  const std::array<Operand, 10> operands{word(request.key[0]),
                                         word(request.key[1]),
                                         word(request.counter[0]),
                                         word(request.counter[1]),
                                         word(request.counter[2]),
                                         word(request.counter[3]),
                                         Operand{nullptr, request.a},
                                         Operand{nullptr, request.b},
                                         takes_array ? Operand{request.each, {}} : result,
                                         result};
  const std::int64_t per_turn = ops::elements_per_turn(request.distribution, request.dtype);
  const Dims loop = takes_array ? request.shape : Dims{(count + per_turn - 1) / per_turn};
  TRY_DONE(launcher_.launch({drawing, loop, 0, std::span(operands).first(takes_array ? 10 : 9)}));
  return std::move(made);
}

}  // namespace arraycore
