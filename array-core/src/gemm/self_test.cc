#include "gemm/self_test.h"

#include <cstddef>

namespace arraycore::gemm {

namespace {

std::vector<float> numbers(std::int64_t count, std::size_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>((i * 7 + seed) % 9) - 4);
  return values;
}

std::int64_t whole4(std::int64_t value) { return (value + 3) / 4 * 4; }

// Strides of `lines` by `terms` elements as a load wants them, and how many elements that takes.
struct Lies {
  std::int64_t line_stride;
  std::int64_t term_stride;
  std::int64_t elements;
};
Lies lies(Load load, std::int64_t lines, std::int64_t terms) {
  if (load == Load::terms4 || load == Load::terms) return {terms, 1, lines * terms};
  const std::int64_t step = load == Load::lines4 ? whole4(lines) : lines;
  return {1, step, step * terms};
}

}  // namespace

SelfTest self_test(const Variant& variant) {
  SelfTest test;
  Problem& problem = test.problem;
  const bool vectors = variant.a == Load::terms4 || variant.b == Load::terms4;
  // Beyond one workgroup's block, and beyond one step of its terms.
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
  const Lies a = lies(variant.a, problem.m, problem.k);
  const Lies b = lies(variant.b, problem.n, problem.k);
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
  test.want.resize(static_cast<std::size_t>(problem.m * problem.n));
  multiply_plainly(problem, test.a.data(), test.b.data(), test.want.data());
  return test;
}

}  // namespace arraycore::gemm
