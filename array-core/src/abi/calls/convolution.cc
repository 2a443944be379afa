#include "abi/calls/convolution.h"

#include <array>
#include <utility>

#include "abi/calls/calls.h"
#include "arraycore/arraycore.h"
#include "dtype/promotion.h"
#include "operations/nn/convolution.h"

namespace arraycore::calls {

namespace {

enum class What : std::uint8_t { forward = 0, data_gradient = 1, weight_gradient = 2 };

// Gets arrays by their ids, in the common dtype of the first two. 0 names none of the others.
template <std::size_t count>
Status take(Context& context, const std::array<ArrayId, count>& ids,
            std::array<Array, count>& operands) {
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= 2 && ids[i] == 0) continue;
    const auto found = context.get(ids[i]);
    if (!found) return found.error();
    operands[i] = **found;
  }
  const std::array<DType, 2> dtypes{operands[0].dtype, operands[1].dtype};
  const DType dtype = result_type(context.promotion, dtypes, {});
  for (Array& operand : operands) {
    if (operand.storage == nullptr || operand.dtype == dtype) continue;
    auto cast = context.launcher().copy(operand, dtype);
    if (!cast) return cast.error();
    operand = std::move(*cast);
  }
  return Done{};
}

const Array* if_there(const Array& array) { return array.storage == nullptr ? nullptr : &array; }

Result<std::int32_t> convolve(Context& context, Words& words) {
  const auto what = static_cast<What>(words.below(3));
  std::array<ArrayId, 5> ids{};
  for (ArrayId& id : ids) id = words.next();
  const auto activation = static_cast<Activation>(words.below(kActivations));
  ConvolutionGeometry how;
  how.stride = words.dims();
  how.pad_before = words.dims();
  how.pad_after = words.dims();
  how.dilation = words.dims();
  how.groups = words.integer();
  const Dims space = words.dims();
  if (const Status end = words.end(); !end) return end.error();
  if ((ids[3] == 0) != (ids[4] == 0)) return bad_call();
  std::array<Array, 5> operands;
  if (const Status taken = take(context, ids, operands); !taken) return taken.error();
  Convolutions& convolutions = context.convolutions();
  const auto& [a, b, bias, scale, shift] = operands;
  const ConvolutionExtras extras{if_there(scale), if_there(shift), if_there(bias), activation};
  auto made = what == What::forward         ? convolutions.forward(a, b, how, extras)
              : what == What::data_gradient ? convolutions.data_gradient(a, b, space, how)
                                            : convolutions.weight_gradient(a, b, space, how);
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

Result<std::int32_t> dense(Context& context, Words& words) {
  std::array<ArrayId, 3> ids{};
  for (ArrayId& id : ids) id = words.next();
  const auto activation = static_cast<Activation>(words.below(kActivations));
  if (const Status end = words.end(); !end) return end.error();
  std::array<Array, 3> operands;
  if (const Status taken = take(context, ids, operands); !taken) return taken.error();
  auto made =
      context.convolutions().dense(operands[0], operands[1], if_there(operands[2]), activation);
  if (!made) return made.error();
  return context.insert(std::move(*made));
}

}  // namespace

Call find_convolution_call(std::int32_t operation) {
  if (operation == AC_CALL_CONV) return convolve;
  return operation == AC_CALL_DENSE ? dense : nullptr;
}

}  // namespace arraycore::calls
