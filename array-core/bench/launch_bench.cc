// Measures the time that the issuing thread needs for one launch on the ring: it prepares the
// arguments, finds the program, and writes the uniforms and the command. The executor's work is not
// counted.
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>

#include "ir/builder.h"
#include "testing/recorded_ring.h"

namespace arraycore {
namespace {

constexpr int kBatch = 10'000;

struct Ring : RecordedRing {
  Ring() { executor->record = false; }
};

KernelId add(Ring& ring) {
  ir::Builder k("add");
  const auto x = k.in("x", DType::float32);
  const auto y = k.in("y", DType::float32);
  const auto z = k.out("z", DType::float32);
  k.store(z, k.read(x) + k.read(y));
  return *ring.backend->prepare(k.take());
}

void run(benchmark::State& state, Ring& ring, const Launch& launch) {
  if (!ring.opened) state.SkipWithError("no executor");
  int waiting = 0;
  for (auto _ : state) {
    if (!ring.backend->launch(launch)) state.SkipWithError("refused");
    if (++waiting < kBatch) continue;
    waiting = 0;
    state.PauseTiming();
    if (!ring.finish()) state.SkipWithError("lost");
    state.ResumeTiming();
  }
}

void contiguous_add(benchmark::State& state) {
  Ring ring;
  const Launch launch{
      add(ring), {1000}, 0, {ring.array({1000}), ring.array({1000}), ring.array({1000})}};
  run(state, ring, launch);
}
BENCHMARK(contiguous_add)->Name("launch/contiguous");

void broadcast_add(benchmark::State& state) {
  Ring ring;
  const Launch launch{
      add(ring), {20, 50}, 0, {ring.array({20, 50}), ring.array({50}), ring.array({20, 50})}};
  run(state, ring, launch);
}
BENCHMARK(broadcast_add)->Name("launch/broadcast");

}  // namespace
}  // namespace arraycore

BENCHMARK_MAIN();
