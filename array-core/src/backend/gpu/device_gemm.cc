#include "backend/gpu/device_gemm.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "gemm/self_test.h"

namespace arraycore {

namespace {

using gemm::Choice;
using gemm::Grid;
using gemm::Matrix;
using gemm::Problem;

// For each result, the kernel that adds up the parts of divided sums gets at most this many
// workgroups. A large device runs them all at once, because they mostly wait for memory. If fewer
// are enough, each element of the result has an invocation of its own.
constexpr std::uint32_t kJoinGroups = 4096;

std::uint32_t words_of(std::int64_t value) { return static_cast<std::uint32_t>(value); }

bool is_row(const GemmLaunch& launch) {
  const Problem& problem = launch.problem;
  // A prologue can change the elements of b only, so a and b cannot be exchanged if there is one.
  return !problem.window && problem.m == 1 && problem.n > 1 &&
         launch.stages.prologue.kernel == nullptr;
}

bool same(const gemm::Stage& one, const gemm::Stage& other) { return one.kernel == other.kernel; }

// Appends the storages of the operands of prologue and epilogue to the bindings, in binding order.
void add_operands(const GemmLaunch& launch, const gemm::Stages& stages,
                  std::vector<StorageId>& bindings) {
  const auto* const operands = launch.operands.data();
  bindings.insert(bindings.end(), operands, operands + stages.prologue.operands());
  const auto* const of_epilogue = operands + gemm::kStageOperands;
  bindings.insert(bindings.end(), of_epilogue, of_epilogue + stages.epilogue.operands());
}

std::uint32_t operands_of(const gemm::Stages& stages) {
  return static_cast<std::uint32_t>(stages.prologue.operands() + stages.epilogue.operands());
}

// Moves the operands of prologue and epilogue forward by `rows` rows and `columns` columns. With a
// window, `columns` counts the outer columns (problem.h), which index the operands of a prologue.
void move_operands(gemm::Stages& stages, std::int64_t rows, std::int64_t columns) {
  for (gemm::OperandLayout& operand : stages.prologue_layouts)
    operand.offset += columns * operand.column_stride;
  for (gemm::OperandLayout& operand : stages.epilogue_layouts)
    operand.offset += rows * operand.row_stride + columns * operand.column_stride;
}

// Turns a product whose result is one row into one whose result is one column: out' = b' a'.
GemmLaunch upright(const GemmLaunch& launch) {
  GemmLaunch turned = launch;
  Problem& problem = turned.problem;
  std::swap(turned.a, turned.b);
  std::swap(problem.a, problem.b);
  std::swap(problem.m, problem.n);
  for (Matrix* matrix : {&problem.a, &problem.b, &problem.out})
    std::swap(matrix->row_stride, matrix->column_stride);
  for (gemm::OperandLayout& operand : turned.stages.epilogue_layouts)
    std::swap(operand.row_stride, operand.column_stride);
  return turned;
}

// Divides a launch into two launches, by rows or by columns. The second launch begins at a row or
// column whose number is a multiple of 4, so that no vector of 4 is split. The columns of a problem
// with a window (problem.h) are divided differently: between two outer columns or, if there is only
// one, along the first of the window's axes that has more than one column.
std::pair<GemmLaunch, GemmLaunch> halves(const GemmLaunch& launch, bool rows) {
  std::pair<GemmLaunch, GemmLaunch> both{launch, launch};
  Problem& first = both.first.problem;
  Problem& second = both.second.problem;
  if (!rows && first.window) {
    const std::int64_t inner = first.window->columns();
    const std::int64_t outer = first.n / inner;
    if (outer > 1) {
      first.n = outer / 2 * inner;
      second.n -= first.n;
      second.b.offset += outer / 2 * second.b.column_stride;
      second.out.offset += outer / 2 * second.out.column_stride;
      move_operands(both.second.stages, 0, outer / 2);
      return both;
    }
    std::size_t axis = 0;
    while (first.window->axes[axis].columns == 1) ++axis;
    gemm::WindowAxis& before = first.window->axes[axis];
    gemm::WindowAxis& behind = second.window->axes[axis];
    before.columns /= 2;
    behind.columns -= before.columns;
    behind.origin += before.columns * behind.column_step;
    second.out.offset += before.columns * behind.out_stride;
    first.n = first.window->columns();
    second.n = second.window->columns();
    return both;
  }
  const std::int64_t half = (rows ? first.m : first.n) / 2 / 4 * 4;
  (rows ? first.m : first.n) = half;
  (rows ? second.m : second.n) -= half;
  Matrix& operand = rows ? second.a : second.b;
  operand.offset += half * (rows ? operand.row_stride : operand.column_stride);
  second.out.offset += half * (rows ? second.out.row_stride : second.out.column_stride);
  move_operands(both.second.stages, rows ? half : 0, rows ? 0 : half);
  return both;
}

// Returns the number of floating-point operations of one product of the batch.
double flop_of(const Problem& problem) {
  return 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
         static_cast<double>(problem.k);
}

// A result with fewer rows and columns than this is not divided, because each part would leave most
// of a workgroup idle.
constexpr std::int64_t kLeastToHalve = 64;

// Decides whether one element of the batch takes so long that it must be divided: by rows (true),
// by columns (false), or not at all (nullopt). Small results are never divided.
std::optional<bool> cut_by_rows(const Problem& problem, const gemm::Device& device) {
  if (flop_of(problem) <= device.most_flop) return std::nullopt;
  const bool rows = problem.m >= problem.n;
  if ((rows ? problem.m : problem.n) < kLeastToHalve) return std::nullopt;
  return rows;
}

// Returns how many matrices one dispatch computes. If the sum is divided, each part is a matrix.
std::uint32_t batches_at_once(const Problem& problem, const Choice& choice,
                              const gemm::Device& device) {
  const double batches = std::max(1.0, std::floor(device.most_flop / flop_of(problem)));
  return static_cast<std::uint32_t>(
      std::min<double>(device.groups, batches * static_cast<double>(choice.splits)));
}

// Returns the problem that computes the parts of a divided sum. The results for one element of the
// batch are consecutive C-ordered matrices.
Problem into_parts(const Problem& problem, std::uint32_t splits) {
  Problem parts = problem;
  parts.out = {0, problem.n, 1, problem.batch};
  std::int64_t step = splits * problem.m * problem.n;
  for (int axis = problem.batch.size() - 1; axis >= 0; --axis) {
    parts.out.batch[axis] = step;
    step *= problem.batch[axis];
  }
  return parts;
}

// Owns a temporary storage and destroys it.
class Lent {
 public:
  Lent(Backend& backend, StorageId id) : backend_(backend), id_(id) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { backend_.destroy_storage(id_); }
  StorageId id() const { return id_; }

 private:
  Backend& backend_;
  StorageId id_;
};

}  // namespace

void DeviceGemm::reset() {
  for (const auto& known : known_) known->state = State::unchecked;
}

std::uint32_t DeviceGemm::tune(const gemm::Tuning& tuning) {
  tuning_ = tuning;
  return static_cast<std::uint32_t>(
      std::count_if(known_.begin(), known_.end(),
                    [](const auto& known) { return known->state == State::denied; }));
}

Result<DeviceGemm::Known*> DeviceGemm::find(const gemm::Variant& variant, const gemm::Stages& all) {
  for (const auto& known : known_)
    if (known->variant == variant && same(known->stages.prologue, all.prologue) &&
        same(known->stages.epilogue, all.epilogue))
      return known.get();
  const gemm::Stages stages = gemm::stages_of_product(variant, all);
  TRY(auto& text, gemm::generate(variant, stages));
  TRY(const auto& kernel,
      backend_.prepare_raw({.wgsl = std::move(text),
                            .name = variant.name(),
                            .uniform_bytes = gemm::uniform_count(variant.axes, stages) * 4,
                            .bindings = 3 + operands_of(stages),
                            .read_write_mask = 4,
                            .whole_vectors = true}));
  known_.push_back(std::make_unique<Known>(Known{variant, all, kernel, State::unchecked}));
  return known_.back().get();
}

Status DeviceGemm::launch(const GemmLaunch& launch, const gemm::Device& device) {
  if (launch.problem.dtype != DType::float32)
    return Error{ErrorKind::not_implemented, "gpu_operation",
                 "Products of matrices have a device's kernel of their own in float32 only."};
  if (launch.problem.batch.size() <= gemm::kBatchAxes)
    return launch_within_limits(is_row(launch) ? upright(launch) : launch, device);
  // A kernel loops over at most kBatchAxes axes of the batch. This code loops over the others.
  GemmLaunch inner = launch;
  Problem& problem = inner.problem;
  const std::int64_t extent = problem.batch[0];
  for (Dims* dims : {&problem.batch, &problem.a.batch, &problem.b.batch, &problem.out.batch}) {
    std::copy(dims->begin() + 1, dims->end(), dims->begin());
    dims->resize(dims->size() - 1);
  }
  const Problem& whole = launch.problem;
  for (std::int64_t i = 0; i < extent; ++i) {
    problem.a.offset = whole.a.offset + i * whole.a.batch[0];
    problem.b.offset = whole.b.offset + i * whole.b.batch[0];
    problem.out.offset = whole.out.offset + i * whole.out.batch[0];
    inner.stages = launch.stages;
    for (auto* operands : {&inner.stages.prologue_layouts, &inner.stages.epilogue_layouts})
      for (gemm::OperandLayout& operand : *operands)
        operand.offset += i * problem.batches() * operand.batch_stride;
    TRY_DONE(this->launch(inner, device));
  }
  return Done{};
}

Status DeviceGemm::launch_within_limits(const GemmLaunch& launch, const gemm::Device& device) {
  const Problem& problem = launch.problem;
  if (const auto by_rows = cut_by_rows(problem, device)) {
    const auto [first, second] = halves(launch, *by_rows);
    const Status done = launch_within_limits(first, device);
    return done ? launch_within_limits(second, device) : done;
  }
  Choice choice = gemm::choose(problem, device, tuning_);
  auto known = find(choice.variant, launch.stages);
  if (!known) return known.error();
  if ((*known)->state == State::unchecked) {
    TRY_DONE(check(**known));
  }
  if ((*known)->state == State::denied) {
    choice = gemm::conservative(problem);
    known = find(choice.variant, launch.stages);
    if (!known) return known.error();
  }
  const Grid grid = gemm::grid_of(choice.variant, problem);
  if (grid.x <= device.groups && grid.y <= device.groups)
    return run(launch, choice, (*known)->kernel, batches_at_once(problem, choice, device));
  auto [first, second] = halves(launch, grid.y > device.groups || problem.n == 1);
  const Status done = launch_within_limits(first, device);
  return done ? launch_within_limits(second, device) : done;
}

// ---- the check of a variant at its first use

Status DeviceGemm::check(Known& known) {
  // Waits first, so that errors of earlier commands are not blamed on this variant.
  TRY(const auto& some, backend_.create_storage(4));
  const Lent storage(backend_, some);
  TRY_DONE(backend_.download(storage.id(), 0, {}));
  const auto right = gives_what_it_should(known);
  if (!right && right.error().kind != ErrorKind::device) return right.error();
  known.state = right && *right ? State::right : State::denied;
  return Done{};
}

Result<bool> DeviceGemm::gives_what_it_should(const Known& known) {
  gemm::SelfTest test = gemm::self_test(known.variant, known.stages);
  const auto bytes = [](std::span<float> values) { return std::as_writable_bytes(values); };
  TRY(const auto& a, backend_.create_storage(static_cast<std::int64_t>(bytes(test.a).size())));
  const Lent lent_a(backend_, a);
  TRY(const auto& b, backend_.create_storage(static_cast<std::int64_t>(bytes(test.b).size())));
  const Lent lent_b(backend_, b);
  TRY(const auto& out, backend_.create_storage(static_cast<std::int64_t>(bytes(test.want).size())));
  const Lent lent_out(backend_, out);

  GemmLaunch launch{test.problem, a, b, out, test.stages, {}};
  std::vector<std::unique_ptr<Lent>> lent;
  for (std::size_t i = 0; i < test.operands.size(); ++i) {
    TRY(const auto& made,
        backend_.create_storage(static_cast<std::int64_t>(bytes(test.operands[i]).size())));
    lent.push_back(std::make_unique<Lent>(backend_, made));
    const auto of_prologue = static_cast<std::size_t>(test.stages.prologue.operands());
    launch.operands[i < of_prologue ? i : gemm::kStageOperands + i - of_prologue] = made;
    TRY_DONE(backend_.upload(made, 0, bytes(test.operands[i])));
  }
  Status done = backend_.upload(a, 0, bytes(test.a));
  if (done) done = backend_.upload(b, 0, bytes(test.b));
  if (done) done = run(launch, test.choice, known.kernel, gemm::Device{}.groups);
  std::vector<float> got(test.want.size());
  if (done) done = backend_.download(out, 0, bytes(got));
  if (!done) return done.error();
  return test.accepts(got);
}

// ---- commands

Status DeviceGemm::run(const GemmLaunch& launch, const Choice& choice, KernelId kernel,
                       std::uint32_t groups) {
  const Problem& problem = launch.problem;
  const Grid grid = gemm::grid_of(choice.variant, problem);
  if (choice.splits == 1) return dispatch(launch, choice, kernel, grid, groups);
  const std::int64_t bytes = problem.batches() * choice.splits * problem.m * problem.n * 4;
  TRY(const auto& parts, backend_.create_storage(bytes));
  // The buffer is freed when this function returns, although commands that use it still wait. That
  // is safe: its memory can be given only to commands that are queued later.
  const Lent lent(backend_, parts);
  GemmLaunch partial = launch;
  partial.problem = into_parts(problem, choice.splits);
  partial.out = parts;
  const Status done = dispatch(partial, choice, kernel, grid, groups);
  return done ? join(launch, choice, parts, groups) : done;
}

// Issues as many dispatches as all elements of the batch need.
Status DeviceGemm::dispatch(const GemmLaunch& launch, const Choice& choice, KernelId kernel,
                            Grid grid, std::uint32_t groups) {
  const std::int64_t batches = launch.problem.batches();
  const std::int64_t step = groups / choice.splits;
  const gemm::Stages stages = gemm::stages_of_product(choice.variant, launch.stages);
  std::vector<StorageId> bindings{launch.a, launch.b, launch.out};
  add_operands(launch, stages, bindings);
  for (std::int64_t first = 0; first < batches; first += step) {
    const auto words = gemm::uniform_words(launch.problem, choice, words_of(first), stages);
    const std::int64_t count = std::min(step, batches - first);
    const Status sent = backend_.launch_raw(
        {kernel, {grid.x, grid.y, words_of(count) * choice.splits}, bindings, words});
    if (!sent) return sent;
  }
  return Done{};
}

Result<KernelId> DeviceGemm::find_join(int axes, const gemm::Stages& stages) {
  for (const Join& join : joins_)
    if (join.axes == axes && same(join.epilogue, stages.epilogue)) return join.kernel;
  TRY(auto& text, gemm::generate_join(axes, stages));
  const auto kernel = backend_.prepare_raw({.wgsl = std::move(text),
                                            .name = axes == 0 ? "matmul join" : "conv join",
                                            .uniform_bytes = gemm::uniform_count(axes, stages) * 4,
                                            .bindings = 2 + operands_of(stages),
                                            .read_write_mask = 2,
                                            .whole_vectors = true});
  if (kernel) joins_.push_back({axes, stages.epilogue, *kernel});
  return kernel;
}

Status DeviceGemm::join(const GemmLaunch& launch, const Choice& choice, StorageId parts,
                        std::uint32_t groups) {
  const gemm::Stages stages = gemm::stages_of_join(launch.stages);
  TRY(const auto& kernel, find_join(choice.variant.axes, stages));
  std::vector<StorageId> bindings{parts, launch.out};
  add_operands(launch, stages, bindings);
  const Problem& problem = launch.problem;
  const std::int64_t batches = problem.batches();
  const std::uint32_t across = std::min(kJoinGroups, words_of((problem.m * problem.n + 63) / 64));
  for (std::int64_t first = 0; first < batches; first += groups) {
    const auto words = gemm::uniform_words(problem, choice, words_of(first), stages);
    const std::int64_t count = std::min<std::int64_t>(groups, batches - first);
    const Status sent =
        backend_.launch_raw({kernel, {across, 1, words_of(count)}, bindings, words});
    if (!sent) return sent;
  }
  return Done{};
}

}  // namespace arraycore
