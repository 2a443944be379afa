#include "operations/nn/losses.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "operations/reduced_axes.h"
#include "ops/losses.h"
#include "view/messages.h"

namespace arraycore {

namespace {

constexpr std::uint32_t kClasses = 1U << 1;  // the axis of classes in the scores, as a bit

Dims without_classes(const Dims& scores) {
  Dims shape;
  for (int axis = 0; axis < scores.size(); ++axis)
    if (axis != 1) shape.push_back(scores[axis]);
  return shape;
}

Status check(const Array& x, const Array& t) {
  const bool floats =
      x.dtype == DType::float16 || x.dtype == DType::float32 || x.dtype == DType::float64;
  const bool integers = t.dtype == DType::int8 || t.dtype == DType::int16 ||
                        t.dtype == DType::int32 || t.dtype == DType::int64;
  if (!floats || !integers)
    return Error{ErrorKind::not_implemented, "loss_dtype",
                 "A cross entropy takes scores of float16, float32 or float64 and labels of signed "
                 "integers, not " +
                     std::string(name_of(x.dtype)) + " and " + std::string(name_of(t.dtype)) + "."};
  const Dims& scores = x.view.shape;
  if (scores.size() < 2 || t.view.shape != without_classes(scores) || x.view.count() == 0)
    return Error{ErrorKind::value, "loss_shapes",
                 "Scores (images, classes, ...) and labels (images, ...) do not fit: these have "
                 "the shapes " +
                     shape_text(scores) + " and " + shape_text(t.view.shape) + "."};
  return Done{};
}

Operand number(DType dtype, double value) { return {nullptr, ir::scalar_of(dtype, value)}; }
Operand integer(DType dtype, std::int64_t value) { return {nullptr, ir::scalar_of(dtype, value)}; }

}  // namespace

Result<KernelRef> Losses::kernel(Which which, DType scores, DType labels) {
  const std::array key{static_cast<std::size_t>(which), static_cast<std::size_t>(scores),
                       static_cast<std::size_t>(labels)};
  if (const auto known = kernels_.find(key); known != kernels_.end()) return known->second;
  auto made = launcher_.prepare(which == Which::log_sum_exp ? ops::make_log_sum_exp_kernel(scores)
                                : which == Which::cross_entropy
                                    ? ops::make_cross_entropy_kernel(scores, labels)
                                    : ops::make_cross_entropy_gradient_kernel(scores, labels));
  if (made) kernels_.emplace(key, *made);
  return made;
}

Result<CrossEntropy> Losses::cross_entropy(const Array& x, const Array& t, std::int64_t ignore,
                                           bool normalize) {
  TRY_DONE(check(x, t));
  const DType computed = ops::loss_dtype(x.dtype);
  TRY(const auto& rows, kernel(Which::log_sum_exp, x.dtype, t.dtype));
  TRY(const auto& all, kernel(Which::cross_entropy, x.dtype, t.dtype));
  TRY(auto& lse, launcher_.allocate(computed, t.view.shape));
  TRY(auto& loss, launcher_.allocate(x.dtype, {}));
  TRY(auto& coeff, launcher_.allocate(computed, {}));

  const Dims& scores = x.view.shape;
  const std::array<Operand, 2> row{Operand{&x, {}}, Operand{&lse, {}}};
  TRY_DONE(launcher_.launch({rows, scores, kClasses, row}));
  const std::int64_t images = scores[0];
  const double fixed = normalize ? -1.0 : 1.0 / static_cast<double>(images);
  const std::vector<Operand> operands{{&t, {}},
                                      {&lse, {}},
                                      {&x, {}},
                                      integer(DType::int32, scores[1]),
                                      integer(DType::int32, t.view.count() / images),
                                      integer(t.dtype, ignore),
                                      number(computed, fixed),
                                      {&loss, {}},
                                      {&coeff, {}}};
  const std::uint32_t every = (1U << static_cast<unsigned>(t.view.ndim())) - 1;
  TRY_DONE(launcher_.launch({all, t.view.shape, every, operands}));
  return CrossEntropy{std::move(loss), std::move(lse), std::move(coeff)};
}

Result<Array> Losses::gradient(const Array& gloss, const Array& x, const Array& t, const Array& lse,
                               const Array& coeff, std::int64_t ignore) {
  TRY_DONE(check(x, t));
  const DType computed = ops::loss_dtype(x.dtype);
  if (lse.view.shape != t.view.shape || gloss.view.ndim() != 0 || coeff.view.ndim() != 0)
    return Error{ErrorKind::value, "loss_shapes",
                 "The gradient by a loss has no dimensions, and lse the labels' shape."};
  if (gloss.dtype != x.dtype || lse.dtype != computed || coeff.dtype != computed)
    return Error{ErrorKind::not_implemented, "loss_dtype",
                 "The gradient has the scores' dtype, lse and coeff are as they were given."};
  TRY(const auto& by_scores, kernel(Which::gradient, x.dtype, t.dtype));
  TRY(auto& gx, launcher_.allocate(x.dtype, x.view.shape));
  const int ndim = x.view.ndim();
  const Array wide_lse{lse.dtype, with_axes(lse.view, kClasses, ndim), lse.storage};
  const Array wide_t{t.dtype, with_axes(t.view, kClasses, ndim), t.storage};
  const std::array<Operand, 7> operands{
      Operand{&x, {}},     Operand{&wide_lse, {}},   Operand{&wide_t, {}}, Operand{&gloss, {}},
      Operand{&coeff, {}}, integer(t.dtype, ignore), Operand{&gx, {}}};
  const Status done = launcher_.launch({by_scores, x.view.shape, 0, operands});
  return done ? std::move(gx) : Result<Array>(done.error());
}

}  // namespace arraycore
