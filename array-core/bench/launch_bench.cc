// What it costs to issue one launch to the ring: arguments, look, program, uniforms, command. The
// executor's own work is not counted.
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>

#include "api/ring_backend.h"
#include "ir/builder.h"
#include "ring/recording_executor.h"

namespace arraycore {
namespace {

constexpr int kBatch = 10'000;

struct Ring {
  Ring() {
    auto host = std::make_unique<ring::PumpHost>();
    ring::PumpHost& pump = *host;
    auto* const base = reinterpret_cast<std::byte*>(memory.get());
    backend = std::make_unique<RingBackend>(memory, base, std::move(host));
    executor =
        std::make_unique<ring::RecordingExecutor>(memory->control, base, sizeof(RingMemory), pump);
    executor->record = false;
    pump.executor = executor.get();
    ready = backend->open(std::int64_t{1} << 30).ok();
  }
  ~Ring() { backend.reset(); }

  ArrayArgument array(const Dims& shape) {
    const View view = contiguous(shape, 4);
    return {*backend->create_storage(view.count() * 4), view};
  }

  std::shared_ptr<RingMemory> memory = std::make_shared<RingMemory>();
  std::unique_ptr<RingBackend> backend;
  std::unique_ptr<ring::RecordingExecutor> executor;
  bool ready = false;
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
  if (!ring.ready) state.SkipWithError("no executor");
  int waiting = 0;
  for (auto _ : state) {
    if (!ring.backend->launch(launch)) state.SkipWithError("refused");
    if (++waiting < kBatch) continue;
    waiting = 0;
    state.PauseTiming();
    if (!ring.backend->download(1, 0, {})) state.SkipWithError("lost");
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
