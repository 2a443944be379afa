#include "backend/cpu/cpu_stages.h"

#include <cstring>

namespace arraycore {

Status CpuPrologue::apply(const Part& part, std::byte* packed) {
  const auto item = static_cast<std::int64_t>(size_of(launch_.problem.dtype));
  const std::int64_t panels = (part.columns + part.width - 1) / part.width;
  const View all{{panels, part.terms, part.width},
                 {part.terms * part.width * item, part.width * item, item},
                 0};
  ir::Launch launch;
  launch.loop = all.shape;
  launch.arguments.push_back(ir::Argument::array(packed, all));
  std::array<std::vector<std::byte>, gemm::kStageOperands> values;
  const auto count = static_cast<std::size_t>(launch_.stages.prologue.operands());
  for (std::size_t i = 0; i < count; ++i) {
    const View view = spread(i, part, values[i]);
    launch.arguments.push_back(ir::Argument::array(values[i].data(), view));
  }
  launch.arguments.push_back(ir::Argument::array(packed, all));
  return machine_.run(launch);
}

View CpuPrologue::spread(std::size_t operand, const Part& part,
                         std::vector<std::byte>& values) const {
  const gemm::Problem& problem = launch_.problem;
  const gemm::OperandLayout& layout = launch_.stages.prologue_layouts[operand];
  const std::size_t item = size_of(problem.dtype);
  const std::int64_t panels = (part.columns + part.width - 1) / part.width;
  const bool by_term = layout.row_stride != 0;
  const std::int64_t count = by_term ? part.terms : panels * part.width;
  const std::int64_t inner = !problem.window ? 1
                             : by_term       ? problem.window->terms()
                                             : problem.window->columns();
  const std::int64_t last = (by_term ? problem.k : problem.n) - 1;
  values.resize(static_cast<std::size_t>(count) * item);
  for (std::int64_t i = 0; i < count; ++i) {
    // The last panel may extend past the last column of b. For each surplus column, the operand's
    // last element is repeated.
    const std::int64_t number = std::min((by_term ? part.term : part.column) + i, last) / inner;
    const std::int64_t at = layout.offset + part.batch * layout.batch_stride +
                            number * (by_term ? layout.row_stride : layout.column_stride);
    std::memcpy(&values[static_cast<std::size_t>(i) * item],
                operands_[operand] + at * static_cast<std::int64_t>(item), item);
  }
  const auto step = static_cast<std::int64_t>(item);
  return {{panels, part.terms, part.width},
          by_term ? Dims{0, step, 0} : Dims{part.width * step, 0, step},
          0};
}

Status run_epilogue(cpu::ThreadedProgram& threaded, const GemmLaunch& launch, std::byte* out,
                    std::byte* first, std::byte* second) {
  const gemm::Problem& problem = launch.problem;
  const auto item = static_cast<std::int64_t>(size_of(problem.dtype));
  const std::int64_t inner = problem.window ? problem.window->columns() : 1;
  ir::Launch each;
  each.loop = {problem.m, problem.n / inner};
  View sums{{}, {problem.out.row_stride * item, problem.out.column_stride * item}, 0};
  if (problem.window)
    for (const gemm::WindowAxis& axis : problem.window->axes) {
      each.loop.push_back(axis.columns);
      sums.strides.push_back(axis.out_stride * item);
    }
  sums.shape = each.loop;
  const std::array<std::byte*, gemm::kStageOperands> bases{first, second};
  for (std::int64_t batch = 0; batch < problem.batches(); ++batch) {
    sums.offset = problem.place(batch).out * item;
    each.arguments.clear();
    each.arguments.push_back(ir::Argument::array(out, sums));
    for (int i = 0; i < launch.stages.epilogue.operands(); ++i) {
      const gemm::OperandLayout& layout =
          launch.stages.epilogue_layouts[static_cast<std::size_t>(i)];
      View view{each.loop, {layout.row_stride * item, layout.column_stride * item}, 0};
      view.strides.resize(each.loop.size());
      view.offset = (layout.offset + batch * layout.batch_stride) * item;
      each.arguments.push_back(ir::Argument::array(bases[static_cast<std::size_t>(i)], view));
    }
    each.arguments.push_back(ir::Argument::array(out, sums));
    TRY_DONE(threaded.run(each));
  }
  return Done{};
}

}  // namespace arraycore
