// Tests that launches divided among threads give the same bits as on one thread. The thread pool
// belongs to the process, so this is one test in a program of its own.
#include "cpu/threaded_program.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "ir/builder.h"
#include "thread_pool/thread_pool.h"

namespace arraycore::cpu {
namespace {

using ir::Builder;
using ir::Value;

ir::Argument argument(std::vector<float>& data, const Dims& shape, const Dims& strides) {
  Dims bytes;
  for (const std::int64_t stride : strides) bytes.push_back(stride * 4);
  return ir::Argument::array(data.data(), {shape, bytes, 0});
}

std::vector<float> numbers(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i * 2'654'435'761U % 1'000) / 997.0f;
  return values;
}

// Compares the results of ThreadedProgram with those of one thread. The kernel writes to its last
// argument, of `count` numbers. `arguments(memory)` returns all arguments with this memory as the
// last one.
template <typename Arguments>
void check(const ir::Kernel& kernel, const Dims& loop, std::uint32_t reduced, std::int64_t count,
           Arguments arguments) {
  const Program program = Program::compile(kernel);
  auto want = numbers(count);
  auto got = want;
  ASSERT_TRUE(program.run({loop, reduced, arguments(want)}));
  ThreadedProgram threaded(program);
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_TRUE(threaded.run({loop, reduced, arguments(got)}));
    ASSERT_EQ(got, want) << kernel.name;
  }
}

void check_elements() {
  Builder k("scaled");
  const auto x = k.in("x", DType::float32);
  const auto scale = k.in("scale", DType::float32);
  const auto y = k.out("y", DType::float32);
  k.store(y, k.read(x) * k.read(scale) + k.read(x));
  auto data = numbers(61 * 7 * 1'003);
  auto factors = numbers(7);
  check(k.take(), {61, 7, 1'003}, 0, 61 * 7 * 1'003, [&](std::vector<float>& out) {
    return std::vector{argument(data, {61, 7, 1'003}, {7'021, 1'003, 1}),
                       argument(factors, {7, 1}, {1, 0}),
                       argument(out, {61, 7, 1'003}, {7'021, 1'003, 1})};
  });
}

void check_rows(const Dims& strides) {
  Builder k("sum");
  const auto x = k.in("x", DType::float32);
  const auto y = k.out("y", DType::float32);
  k.reduce(
      k.read(x) * k.read(x), k.constant(DType::float32, 0), [](Value a, Value b) { return a + b; },
      [&](Value sum) { k.store(y, sum); });
  auto data = numbers(700 * 1'003);
  check(k.take(), {700, 1'003}, 2, 700, [&](std::vector<float>& out) {
    return std::vector{argument(data, {700, 1'003}, strides), argument(out, {700}, {1})};
  });
}

// All elements add to the same few bins, so one thread computes them all.
void check_histogram() {
  Builder k("histogram");
  const auto x = k.in("x", DType::float32);
  const auto bins = k.raw("bins", DType::float32, ir::Access::read_write);
  const Value bin = k.convert(DType::int32, k.read(x) * 10.0);
  k.evaluate(k.atomic(ir::Op::atomic_add, bins, {bin, k.constant(DType::float32, 1)}));
  auto data = numbers(500'000);
  check(k.take(), {500'000}, 0, 11, [&](std::vector<float>& out) {
    std::fill(out.begin(), out.end(), 0.0f);
    return std::vector{argument(data, {500'000}, {1}), argument(out, {11}, {1})};
  });
}

TEST(ThreadedProgram, GivesTheBitsOfOneThread) {
  std::vector<std::thread> helpers;
  for (int i = 1; i <= 3; ++i) helpers.emplace_back([i] { thread_pool().serve(i); });
  while (thread_pool().threads() != 4) std::this_thread::yield();
  check_elements();
  check_rows({1'003, 1});
  check_rows({1, 700});
  check_histogram();
  thread_pool().end();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace
}  // namespace arraycore::cpu
