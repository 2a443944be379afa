// Operations that multiply matrices. Python's thread only.
#include <array>
#include <string>
#include <utility>

#include "abi/calls/functions.h"
#include "dtype/promotion.h"
#include "view/messages.h"
#include "view/overlap.h"
#include "view/shape.h"

namespace arraycore::calls {

namespace {

constexpr const char* kSignature = "(n?,k),(k,m?)->(n?,m?)";

Error shapes_error(std::string message) {
  return {ErrorKind::value, "matmul_shapes", std::move(message)};
}

Error too_few_dimensions(int operand) {
  return shapes_error("matmul: Input operand " + std::to_string(operand) +
                      " does not have enough dimensions (has 0, gufunc core with signature " +
                      kSignature + " requires 1)");
}

Error terms_differ(ProductForm form, const View& a, const View& b) {
  const int axis_a = a.ndim() - 1;
  const int axis_b = b.ndim() > 1 ? b.ndim() - 2 : 0;
  const std::string size_a = std::to_string(a.shape[axis_a]);
  const std::string size_b = std::to_string(b.shape[axis_b]);
  if (form == ProductForm::dot)
    return shapes_error("shapes " + shape_text(a.shape) + " and " + shape_text(b.shape) +
                        " not aligned: " + size_a + " (dim " + std::to_string(axis_a) +
                        ") != " + size_b + " (dim " + std::to_string(axis_b) + ")");
  return shapes_error(
      "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature " +
      std::string(kSignature) + " (size " + size_b + " is different from " + size_a + ")");
}

// Returns the view, but turns a vector into a matrix of one row (axis 0) or one column (axis 1).
View as_matrix(const View& view, int axis) {
  if (view.ndim() > 1) return view;
  View matrix = view;
  matrix.shape = axis == 0 ? Dims{1, view.shape[0]} : Dims{view.shape[0], 1};
  matrix.strides = axis == 0 ? Dims{0, view.strides[0]} : Dims{view.strides[0], 0};
  return matrix;
}

Dims batch_of(const View& view) {
  Dims batch = view.shape;
  batch.resize(view.ndim() - 2);
  return batch;
}

Dims with(const Dims& batch, std::int64_t rows, std::int64_t columns) {
  Dims shape = batch;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

// Returns the operand in the product's dtype, broadcast over the batch.
Result<Array> taken(Launcher& launcher, const Array& array, const View& matrix, DType dtype,
                    const Dims& shape) {
  Array operand{array.dtype, matrix, array.storage};
  if (array.dtype != dtype) {
    TRY(auto& cast, launcher.copy(operand, dtype));
    operand = std::move(cast);
  }
  TRY(auto& wide, broadcast_to(operand.view, shape));
  operand.view = std::move(wide);
  return operand;
}

// Checks `out` by NumPy's rules: the last `core` extents of `out` must be those of the product, and
// the product must broadcast to the shape of `out`. For ProductForm::dot, dtype and shape of `out`
// must be the product's.
Status check_out(ProductForm form, const Array& out, const Dims& shape, int core, DType dtype) {
  TRY_DONE(Launcher::writable(out));
  if (form == ProductForm::dot) {
    if (out.dtype == dtype && out.view.shape == shape &&
        is_c_contiguous(out.view, size_of(out.dtype)))
      return Done{};
    return Error{ErrorKind::value, "out_shape",
                 "output array is not acceptable (must have the right datatype, number of "
                 "dimensions, and be a C-Array)"};
  }
  const auto refused = [](const std::string& what) {
    return Error{ErrorKind::value, "out_shape", "matmul: Output operand 0 " + what};
  };
  if (out.view.ndim() < core)
    return refused("does not have enough dimensions (has " + std::to_string(out.view.ndim()) +
                   ", gufunc core with signature " + kSignature + " requires " +
                   std::to_string(core) + ")");
  for (int axis = 0; axis < core; ++axis) {
    const std::int64_t has = out.view.shape[out.view.ndim() - core + axis];
    const std::int64_t takes = shape[shape.size() - core + axis];
    if (has != takes)
      return refused("has a mismatch in its core dimension " + std::to_string(axis) +
                     ", with gufunc signature " + kSignature + " (size " + std::to_string(has) +
                     " is different from " + std::to_string(takes) + ")");
  }
  if (!can_cast(dtype, out.dtype, Casting::same_kind))
    return Error{ErrorKind::type, "cannot_cast",
                 "Cannot cast ufunc 'matmul' output from dtype('" + std::string(name_of(dtype)) +
                     "') to dtype('" + std::string(name_of(out.dtype)) +
                     "') with casting rule 'same_kind'"};
  if (!broadcast_to(View{shape, shape, 0}, out.view.shape))
    return refused("has shape " + shape_text(out.view.shape) + ", which a result of shape " +
                   shape_text(shape) + " does not broadcast to");
  return Done{};
}

bool apart(const Array& out, const Array& operand) {
  return out.storage != operand.storage || overlap(out.view, size_of(out.dtype), operand.view,
                                                   size_of(operand.dtype)) == Overlap::disjoint;
}

}  // namespace

std::uint32_t read_tile(Words& words) {
  return static_cast<std::uint32_t>(
      words.below(static_cast<std::int32_t>(gemm::tiles().size()) + 1));
}

Result<std::optional<Array>> matmul(Context& context, const Array& a, const Array& b,
                                    const Array* out, ProductForm form) {
  if (a.view.ndim() == 0) return too_few_dimensions(0);
  if (b.view.ndim() == 0) return too_few_dimensions(1);

  const View left = as_matrix(a.view, 0);
  const View right = as_matrix(b.view, 1);
  const std::int64_t rows = left.shape[left.ndim() - 2];
  const std::int64_t terms = left.shape[left.ndim() - 1];
  const std::int64_t columns = right.shape[right.ndim() - 1];
  if (right.shape[right.ndim() - 2] != terms) return terms_differ(form, a.view, b.view);
  const std::array<Dims, 2> batches{batch_of(left), batch_of(right)};
  TRY(const auto& batch, broadcast_shapes(batches));
  const Dims whole = with(batch, rows, columns);
  TRY_DONE(checked_count(whole));
  const int core = (a.view.ndim() > 1 ? 1 : 0) + (b.view.ndim() > 1 ? 1 : 0);
  Dims shape = batch;
  if (a.view.ndim() > 1) shape.push_back(rows);
  if (b.view.ndim() > 1) shape.push_back(columns);

  const std::array<DType, 2> dtypes{a.dtype, b.dtype};
  const DType dtype = result_type(context.promotion, dtypes, {});
  Launcher& launcher = context.launcher();
  if (out != nullptr) TRY_DONE(check_out(form, *out, shape, core, dtype));
  TRY(const auto& operand_a, taken(launcher, a, left, dtype, with(batch, rows, terms)));
  TRY(const auto& operand_b, taken(launcher, b, right, dtype, with(batch, terms, columns)));

  const bool in_place = out != nullptr && out->dtype == dtype && out->view.shape == shape &&
                        is_c_contiguous(out->view, size_of(dtype)) && apart(*out, operand_a) &&
                        apart(*out, operand_b);
  TRY(auto& result, in_place ? Result<Array>(*out) : launcher.allocate(dtype, shape));
  Array product{dtype, contiguous(whole, size_of(dtype)), result.storage};
  product.view.offset = result.view.offset;
  TRY_DONE(launcher.multiply(operand_a, operand_b, product));
  if (out == nullptr) return std::optional(std::move(result));
  if (!in_place) TRY_DONE(launcher.assign(*out, result));
  return std::optional<Array>();
}

}  // namespace arraycore::calls
