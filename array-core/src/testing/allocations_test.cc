// Tests that a launch with the signature of an earlier one allocates nothing, on either back end.
// It is a program of its own, because it counts every operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "backend/cpu/cpu_backend.h"
#include "ir/builder.h"
#include "testing/recorded_ring.h"

namespace {
std::size_t allocations = 0;
}

// NOLINTBEGIN(*-no-malloc): inlined, GCC takes free() for the wrong half of a pair
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
// NOLINTEND(*-no-malloc)

namespace arraycore {
namespace {

ir::Kernel scaled_add() {
  ir::Builder k("scaled_add");
  const auto x = k.in("x", DType::float32);
  const auto y = k.in("y", DType::float32);
  const auto scale = k.scalar("scale", DType::float32);
  const auto z = k.out("z", DType::float32);
  k.store(z, k.read(x) * k.read(scale) + k.read(y));
  return k.take();
}
ir::Kernel sum() {
  ir::Builder k("sum");
  const auto x = k.in("x", DType::float32);
  const auto z = k.out("z", DType::float32);
  k.reduce(
      k.read(x), std::nullopt, [](ir::Value a, ir::Value b) { return a + b; },
      [&](ir::Value total) { k.store(z, total); });
  return k.take();
}

// Makes launches that differ from the first ones only in sizes and offsets. Counts allocations.
std::size_t allocations_of(Backend& backend) {
  const KernelId add = backend.prepare(scaled_add()).value();
  const KernelId total = backend.prepare(sum()).value();
  const auto array = [&](const Dims& shape) {
    return ArrayArgument{backend.create_storage(contiguous(shape, 4).count() * 4).value(),
                         contiguous(shape, 4)};
  };
  std::vector<Launch> launches;
  for (const std::int64_t rows : {8, 16, 24}) {
    const ArrayArgument matrix = array({rows, 100});
    const ArrayArgument row = array({100});
    const ir::Scalar two = ir::scalar_of(DType::float32, 2.0);
    launches.push_back({add, {rows, 100}, 0, {matrix, row, two, array({rows, 100})}});
    launches.push_back({total, {rows, 100}, 2, {matrix, array({rows})}});
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(backend.launch(launches[i]));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(backend.launch(launches[i]));
  const std::size_t before = allocations;
  EXPECT_GT(before, 0U);  // shows that they are counted
  for (const Launch& launch : launches)
    if (!backend.launch(launch)) return before + 1;
  return allocations - before;
}

TEST(Allocations, TheCpuLaunchesWithoutAny) {
  const std::unique_ptr<Backend> backend = make_cpu_backend();
  EXPECT_EQ(allocations_of(*backend), 0U);
}

TEST(Allocations, TheRingLaunchesWithoutAny) {
  const RecordedRing ring;
  ASSERT_TRUE(ring.opened);
  EXPECT_EQ(allocations_of(*ring.backend), 0U);
}

}  // namespace
}  // namespace arraycore
