#include "gemm/self_test.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "ir/interpret.h"

namespace arraycore::gemm {

namespace {

std::vector<float> numbers(std::int64_t count, std::size_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>((i * 7 + seed) % 9) - 4);
  return values;
}

std::int64_t whole4(std::int64_t value) { return (value + 3) / 4 * 4; }

// The strides that an operand's Load needs, and the number of elements that the operand then has.
struct StridedLayout {
  std::int64_t line_stride;
  std::int64_t term_stride;
  std::int64_t elements;
};
StridedLayout layout_for(Load load, std::int64_t lines, std::int64_t terms) {
  if (load == Load::terms4 || load == Load::terms) return {terms, 1, lines * terms};
  const std::int64_t step = load == Load::lines4 ? whole4(lines) : lines;
  return {1, step, step * terms};
}

// Gives the problem a window that crosses both edges of every axis. It has more positions than a
// block has columns, and more terms than a step takes.
void add_window(Problem& problem, const Variant& variant) {
  const bool tiled = variant.kind == Kind::tiled;
  const std::int64_t columns = tiled ? variant.tile.columns : 32;
  const std::int64_t terms = tiled ? variant.tile.depth : 8;
  problem.m = (tiled ? variant.tile.rows : 32) + 3;
  Window window;
  window.used = variant.axes;
  std::int64_t places = 1;  // elements of b for one pair of outer digits
  std::int64_t inner = 1;   // elements of the result for one outer digit
  for (std::size_t i = kWindowAxes; i > static_cast<std::size_t>(kWindowAxes - window.used); --i) {
    WindowAxis& axis = window.axes[i - 1];
    const bool last = i == kWindowAxes;
    axis.columns = variant.store4 ? (last ? 12 : 2) : (last ? 11 : 3);
    axis.terms = variant.three ? 3 : 2;
    if (variant.b == Load::window_terms) {
      axis.columns = variant.store4 ? (last ? 4 : 2) : 3;
      axis.terms = last ? 11 : 3;
    }
    axis.column_step = last ? 2 : 1;
    axis.term_step = last ? 1 : 2;
    axis.origin = -1;
    axis.extent = (axis.columns - 1) * axis.column_step + (axis.terms - 1) * axis.term_step - 1;
    axis.b_stride = places;
    axis.out_stride = inner;
    places *= axis.extent;
    inner *= axis.columns;
  }
  std::int64_t outer_columns = columns / inner + 1;
  if (!variant.store4 && outer_columns % 4 == 0)
    ++outer_columns;  // then there are no whole vectors
  // `outer_terms` is a multiple of four, so that the rows of `a` are whole vectors.
  const std::int64_t outer_terms = (terms / window.terms() / 4 + 1) * 4;
  problem.n = outer_columns * inner;
  problem.k = outer_terms * window.terms();
  const auto lay = [](Matrix& matrix, std::int64_t row_stride, std::int64_t column_stride) {
    matrix.row_stride = row_stride;
    matrix.column_stride = column_stride;
  };
  lay(problem.b, places, places * outer_terms);
  // The parts of a divided sum have the result's layout, so that one uniform block describes both.
  if (variant.split)
    lay(problem.out, problem.n, inner);
  else
    lay(problem.out, inner, inner * problem.m);
  if (variant.a == Load::outer)
    lay(problem.a, window.terms(), window.terms() * problem.m);
  else
    lay(problem.a, problem.k, window.terms());
  if (variant.a == Load::terms) problem.a.offset = 1;  // so that there is no whole vector
  problem.window = window;
}

SelfTest test_of_window(const Variant& variant) {
  SelfTest test;
  Problem& problem = test.problem;
  add_window(problem, variant);
  test.choice.variant = variant;
  test.choice.depth = static_cast<std::uint32_t>(problem.k);
  if (variant.split) {
    test.choice.depth = variant.kind == Kind::tiled ? variant.tile.depth : 8;
    test.choice.splits =
        static_cast<std::uint32_t>((problem.k + test.choice.depth - 1) / test.choice.depth);
  }
  const std::int64_t outer_columns = problem.n / problem.window->columns();
  test.a = numbers(problem.a.offset + problem.m * problem.k, 1);
  test.b = numbers(problem.b.column_stride * outer_columns, 2);
  return test;
}

SelfTest test_of_matrices(const Variant& variant) {
  SelfTest test;
  Problem& problem = test.problem;
  const bool vectors = variant.a == Load::terms4 || variant.b == Load::terms4;
  // The result is larger than the block of one workgroup, and a sum has more terms than one step
  // takes.
  problem.m = 35;
  problem.n = variant.store4 ? 36 : 35;
  problem.k = vectors ? 12 : 11;
  if (variant.kind == Kind::tiled) {
    problem.m = variant.tile.rows + 3;
    problem.n = variant.tile.columns + (variant.store4 ? 4 : 3);
    problem.k = variant.tile.depth + (vectors ? 4 : 3);
  } else if (variant.kind == Kind::rows || variant.kind == Kind::columns) {
    problem.n = 1;
    problem.k = vectors ? 148 : 147;
  }
  const StridedLayout a = layout_for(variant.a, problem.m, problem.k);
  const StridedLayout b = layout_for(variant.b, problem.n, problem.k);
  problem.a = {0, a.line_stride, a.term_stride, {}};
  problem.b = {0, b.term_stride, b.line_stride, {}};
  problem.out = {0, problem.n, 1, {}};

  test.choice.variant = variant;
  test.choice.depth = static_cast<std::uint32_t>(problem.k);
  if (variant.split) {
    test.choice.splits = 2;
    test.choice.depth = variant.kind == Kind::tiled ? variant.tile.depth : 76;
  }
  test.a = numbers(a.elements, 1);
  test.b = numbers(b.elements, 2);
  return test;
}

// Applies a stage to `values`. Element i of each operand belongs to value i.
void apply_stage(const Stage& stage, std::vector<float>& values,
                 std::vector<std::vector<float>>& operands) {
  const View view{{static_cast<std::int64_t>(values.size())}, {sizeof(float)}, 0};
  ir::Launch launch;
  launch.loop = view.shape;
  std::vector<float> made(values.size());
  launch.arguments.push_back(ir::Argument::array(values.data(), view));
  for (std::vector<float>& operand : operands)
    launch.arguments.push_back(ir::Argument::array(operand.data(), view));
  launch.arguments.push_back(ir::Argument::array(made.data(), view));
  // A stage that cannot run leaves `values` unchanged, so the check fails.
  if (ir::interpret(*stage.kernel, launch)) values = made;
}

}  // namespace

SelfTest self_test(const Variant& variant, const Stages& stages) {
  SelfTest test = variant.axes > 0 ? test_of_window(variant) : test_of_matrices(variant);
  const Problem& problem = test.problem;
  test.stages.prologue = stages.prologue;
  test.stages.epilogue = stages.epilogue;
  std::vector<float> b = test.b;
  if (stages.prologue.kernel != nullptr) {
    std::vector<std::vector<float>> each;
    for (int i = 0; i < stages.prologue.operands(); ++i) {
      test.operands.push_back({static_cast<float>(2 + i)});
      each.emplace_back(b.size(), test.operands.back().front());
    }
    apply_stage(stages.prologue, b, each);
  }
  test.want.resize(static_cast<std::size_t>(problem.m * problem.n));
  multiply_plainly(problem, test.a.data(), b.data(), test.want.data());
  if (stages.epilogue.kernel == nullptr) return test;
  std::vector<std::vector<float>> each;
  for (int i = 0; i < stages.epilogue.operands(); ++i) {
    test.stages.epilogue_layouts[static_cast<std::size_t>(i)].row_stride = 1;
    test.operands.push_back(numbers(problem.m, 5));
    std::vector<float>& of_row = each.emplace_back(test.want.size());
    for (std::int64_t row = 0; row < problem.m; ++row)
      for (std::int64_t column = 0; column < problem.n; ++column)
        of_row[static_cast<std::size_t>(problem.out_at(row, column))] =
            test.operands.back()[static_cast<std::size_t>(row)];
  }
  apply_stage(stages.epilogue, test.want, each);
  return test;
}

bool SelfTest::accepts(const std::vector<float>& got) const {
  if (!stages.any()) return got == want;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!(std::abs(got[i] - want[i]) <= 1e-3F * std::max(1.0F, std::abs(want[i])))) return false;
  return got.size() == want.size();
}

}  // namespace arraycore::gemm
