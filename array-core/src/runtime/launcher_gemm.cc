// Multiplies matrices: with a back end's own kernel, or as a reduction.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "runtime/launcher.h"

namespace arraycore {

namespace {

// The loop of one reduction has at most this many elements.
constexpr std::int64_t kLongestLoop = std::numeric_limits<std::int32_t>::max();

// Returns the view with one more axis of length `extent`, along which its elements repeat.
View repeated(const View& view, int axis, std::int64_t extent) {
  View wide = view;
  wide.shape.push_back(extent);
  wide.strides.push_back(0);
  std::rotate(wide.shape.begin() + axis, wide.shape.end() - 1, wide.shape.end());
  std::rotate(wide.strides.begin() + axis, wide.strides.end() - 1, wide.strides.end());
  return wide;
}

// Returns rows (axis -2) or columns (axis -1) [first, first + count) of the matrices.
Array part(const Array& array, int axis, std::int64_t first, std::int64_t count) {
  Array piece = array;
  const int place = array.view.ndim() + axis;
  piece.view.offset += first * array.view.strides[place];
  piece.view.shape[place] = count;
  return piece;
}

}  // namespace

// Returns the kernel that sums a[..., row, term] * b[..., term, column] over the terms.
Result<KernelRef> Launcher::product_kernel(DType dtype) {
  std::optional<KernelRef>& known = products_[static_cast<std::size_t>(dtype)];
  if (known) return *known;
  ir::Builder builder("matmul");
  const ir::ParamRef a = builder.in("a", dtype);
  const ir::ParamRef b = builder.in("b", dtype);
  const ir::ParamRef out = builder.out("out", dtype);
  const bool logical = dtype == DType::boolean;
  const ir::Value product =
      logical ? builder.apply(ir::Op::logical_and, {builder.read(a), builder.read(b)})
              : builder.read(a) * builder.read(b);
  builder.reduce(
      product, std::nullopt,
      [&](ir::Value x, ir::Value y) {
        return logical ? builder.apply(ir::Op::logical_or, {x, y}) : x + y;
      },
      [&](ir::Value sum) { builder.store(out, sum); });
  auto prepared = prepare(builder.take());
  if (prepared) known = *prepared;
  return prepared;
}

Status Launcher::multiply_plainly(const Array& a, const Array& b, const Array& out) {
  const int ndim = out.view.ndim();
  const std::int64_t rows = a.view.shape[ndim - 2];
  const std::int64_t terms = a.view.shape[ndim - 1];
  const std::int64_t columns = b.view.shape[ndim - 1];
  if (out.view.count() > kLongestLoop / terms && (rows > 1 || columns > 1)) {
    const int axis = rows > 1 ? -2 : -1;
    const std::int64_t half = (rows > 1 ? rows : columns) / 2;
    const std::int64_t rest = (rows > 1 ? rows : columns) - half;
    const auto halved = [&](std::int64_t first, std::int64_t count) {
      return axis == -2
                 ? multiply_plainly(part(a, axis, first, count), b, part(out, axis, first, count))
                 : multiply_plainly(a, part(b, axis, first, count), part(out, axis, first, count));
    };
    const Status done = halved(0, half);
    return done ? halved(half, rest) : done;
  }
  if (ndim == kMaxDims)
    return Error{ErrorKind::value, "too_many_dimensions",
                 "A product of matrices of this dtype takes arrays of up to " +
                     std::to_string(kMaxDims - 1) + " dimensions."};
  TRY(const auto& kernel, product_kernel(out.dtype));
  // The loop is (batch..., row, column, term).
  const Array left{a.dtype, repeated(a.view, ndim - 1, columns), a.storage};
  Array right{b.dtype, b.view, b.storage};
  std::swap(right.view.shape[ndim - 2], right.view.shape[ndim - 1]);
  std::swap(right.view.strides[ndim - 2], right.view.strides[ndim - 1]);
  right.view = repeated(right.view, ndim - 2, rows);
  const std::array<Operand, 3> operands{Operand{&left, {}}, Operand{&right, {}}, Operand{&out, {}}};
  return launch({kernel, left.view.shape, 1U << static_cast<unsigned>(ndim), operands});
}

// Sets `to` to the stage's kernel in the back end, and `storages` to those of its operands.
Status Launcher::prepare_stage(const ProductStage& stage, bool on_device, gemm::Stage& to,
                               StorageId* storages) {
  if (!stage.kernel) return Done{};
  Prepared& prepared = kernels_[*stage.kernel];
  to = {&prepared.kernel, *stage.kernel};
  if (!on_device) {
    TRY(const auto& kernel, on_cpu(prepared));
    to.number = kernel;
  }
  for (std::size_t i = 0; i < stage.operands.size(); ++i) {
    if (stage.operands[i] == nullptr) continue;
    TRY_DONE(prepare_read(*stage.operands[i]));
    storages[i] = stage.operands[i]->storage->id();
  }
  return Done{};
}

namespace {

std::string name_of(const GemmLaunch& launch) {
  std::string name = launch.problem.window ? "conv" : "matmul";
  for (const gemm::Stage* const stage : {&launch.stages.prologue, &launch.stages.epilogue})
    if (stage->kernel != nullptr) name += "+" + stage->kernel->name;
  return name;
}

}  // namespace

Status Launcher::multiply(const gemm::Problem& problem, const Array& a, const Array& b,
                          const Array& out, const ProductStages& stages) {
  const Status launched = multiply_at_home(problem, a, b, out, stages);
  if (launched || launched.error().kind != ErrorKind::not_implemented ||
      !is_device(out.storage->backend()))
    return launched;
  return multiply_on_cpu(problem, a, b, out, stages);
}

// Copies the operands' storages to the CPU, and the result back. REQUIRES: multiply_at_home() has
// prepared all arrays.
Status Launcher::multiply_on_cpu(const gemm::Problem& problem, const Array& a, const Array& b,
                                 const Array& out, const ProductStages& stages) {
  ++counters_.cpu_ops;
  GemmLaunch launch{.problem = problem};
  launch.stages.prologue_layouts = stages.prologue.layouts;
  launch.stages.epilogue_layouts = stages.epilogue.layouts;
  std::vector<std::unique_ptr<Storage>> copies;
  const auto bring = [&](const Array& array, bool read, StorageId& to) -> Status {
    const Storage& from = *array.storage;
    TRY(const auto& made, cpu_->create_storage(from.bytes()));
    copies.push_back(std::make_unique<Storage>(*cpu_, counters_, made, from.bytes()));
    to = made;
    if (!read) return Done{};
    std::vector<std::byte> bytes(static_cast<std::size_t>(from.bytes()));
    TRY_DONE(from.backend().download(from.id(), 0, bytes));
    ++counters_.sync_waits;
    counters_.bytes_down += from.bytes();
    return cpu_->upload(made, 0, bytes);
  };
  const std::int64_t written = out.view.count() * static_cast<std::int64_t>(size_of(out.dtype));
  TRY_DONE(bring(a, true, launch.a));
  TRY_DONE(bring(b, true, launch.b));
  TRY_DONE(bring(out, written != out.storage->bytes(), launch.out));
  const Storage& result = *copies.back();
  StorageId* storages = launch.operands.data();
  for (const auto& [stage, to] : {std::pair{&stages.prologue, &launch.stages.prologue},
                                  std::pair{&stages.epilogue, &launch.stages.epilogue}}) {
    TRY_DONE(prepare_stage(*stage, false, *to, storages));
    for (std::size_t i = 0; i < stage->operands.size(); ++i)
      if (stage->kernel && stage->operands[i] != nullptr)
        TRY_DONE(bring(*stage->operands[i], true, storages[i]));
    storages += gemm::kStageOperands;
  }
  const Span span(profile(), profile_ ? name_of(launch) + " on the CPU" : std::string());
  TRY_DONE(cpu_->launch_gemm(launch));
  std::vector<std::byte> bytes(static_cast<std::size_t>(result.bytes()));
  TRY_DONE(cpu_->download(result.id(), 0, bytes));
  counters_.bytes_up += result.bytes();
  return out.storage->backend().upload(out.storage->id(), 0, bytes);
}

Status Launcher::multiply_at_home(const gemm::Problem& problem, const Array& a, const Array& b,
                                  const Array& out, const ProductStages& stages) {
  for (const Array* const read : {&a, &b}) TRY_DONE(prepare_read(*read));
  TRY_DONE(prepare_write(out));
  Backend& backend = out.storage->backend();
  GemmLaunch launch{problem, a.storage->id(), b.storage->id(), out.storage->id()};
  launch.stages.prologue_layouts = stages.prologue.layouts;
  launch.stages.epilogue_layouts = stages.epilogue.layouts;
  const bool on_device = is_device(backend);
  Status filled =
      prepare_stage(stages.prologue, on_device, launch.stages.prologue, launch.operands.data());
  if (filled)
    filled = prepare_stage(stages.epilogue, on_device, launch.stages.epilogue,
                           launch.operands.data() + gemm::kStageOperands);
  if (!filled) return filled;
  Span span(profile(), profile_ ? name_of(launch) : std::string());
  const Status launched = backend.launch_gemm(launch);
  if (launched && (&backend == device_.get() || device_ == nullptr)) {
    ++counters_.dispatches;
    span.dispatched();
  }
  return launched;
}

Status Launcher::multiply(const Array& a, const Array& b, const Array& out) {
  if (out.view.count() == 0) return Done{};
  if (a.view.shape[a.view.ndim() - 1] == 0) return fill(out, ir::scalar_of(out.dtype, false));
  if (out.dtype == DType::float16) {  // summed in float32 and rounded once
    TRY(const auto& wide_a, copy(a, DType::float32));
    TRY(const auto& wide_b, copy(b, DType::float32));
    TRY(const auto& wide, allocate(DType::float32, out.view.shape));
    const Status done = multiply(wide_a, wide_b, wide);
    return done ? assign(out, wide) : done;
  }
  if (out.dtype == DType::float32 || out.dtype == DType::float64) {
    if (!on_whole_elements(a) || !on_whole_elements(b)) {
      TRY(const auto& whole_a, copy(a, a.dtype));
      const auto whole_b = copy(b, b.dtype);
      return whole_b ? multiply(whole_a, *whole_b, out) : Status(whole_b.error());
    }
    const Status launched =
        multiply_at_home(gemm::problem_of(out.dtype, a.view, b.view, out.view), a, b, out, {});
    if (launched || launched.error().kind != ErrorKind::not_implemented) return launched;
  }
  return multiply_plainly(a, b, out);
}

}  // namespace arraycore
