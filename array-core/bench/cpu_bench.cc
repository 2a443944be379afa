// Compares the blocked CPU interpreter with the same work written as one C++ loop. Times differ
// between machines, so use the ratios of one run: `add/blocks` over `add/loop`, `chain/blocks` over
// `chain/loop`.
#include <benchmark/benchmark.h>

#include <vector>

#include "cpu/program.h"
#include "ir/builder.h"

namespace arraycore {
namespace {

constexpr std::int64_t kElements = 1'000'000;

ir::Argument argument(std::vector<float>& data) {
  return ir::Argument::array(data.data(), {{kElements}, {4}, 0});
}

struct Data {
  std::vector<float> x = std::vector<float>(kElements, 1.5f);
  std::vector<float> y = std::vector<float>(kElements, 0.25f);
  std::vector<float> z = std::vector<float>(kElements);
};

void run(benchmark::State& state, ir::Kernel kernel) {
  Data data;
  const cpu::Program program = cpu::Program::compile(kernel);
  const ir::Launch launch{{kElements}, 0, {argument(data.x), argument(data.y), argument(data.z)}};
  for (auto _ : state) {
    if (!program.run(launch)) state.SkipWithError("refused");
    benchmark::DoNotOptimize(data.z.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kElements);
}

void add_blocks(benchmark::State& state) {
  ir::Builder k("add");
  const auto x = k.in("x", DType::float32);
  const auto y = k.in("y", DType::float32);
  const auto z = k.out("z", DType::float32);
  k.store(z, k.read(x) + k.read(y));
  run(state, k.take());
}
BENCHMARK(add_blocks)->Name("add/blocks");

void add_loop(benchmark::State& state) {
  Data data;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kElements; ++i) data.z[i] = data.x[i] + data.y[i];
    benchmark::DoNotOptimize(data.z.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kElements);
}
BENCHMARK(add_loop)->Name("add/loop");

void chain_blocks(benchmark::State& state) {
  ir::Builder k("chain");
  const auto x = k.in("x", DType::float32);
  const auto y = k.in("y", DType::float32);
  const auto z = k.out("z", DType::float32);
  ir::Value v = k.read(x) + k.read(y);
  for (int i = 0; i < 3; ++i) v = (v * k.read(x) - k.read(y)) * 0.5;
  k.store(z, v);
  run(state, k.take());
}
BENCHMARK(chain_blocks)->Name("chain/blocks");

void chain_loop(benchmark::State& state) {
  Data data;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kElements; ++i) {
      const float a = data.x[i];
      const float b = data.y[i];
      float v = a + b;
      for (int k = 0; k < 3; ++k) v = (v * a - b) * 0.5f;
      data.z[i] = v;
    }
    benchmark::DoNotOptimize(data.z.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kElements);
}
BENCHMARK(chain_loop)->Name("chain/loop");

}  // namespace
}  // namespace arraycore

BENCHMARK_MAIN();
