// Measures how long the codec takes to read a result and to write its acknowledgement with the next
// lease.
#include <benchmark/benchmark.h>

#include "protocol/codec.h"

namespace hyperflock::protocol {
namespace {

Lease sample_lease() {
  Lease lease;
  lease.attempt = AttemptId{123456};
  lease.study = StudyId{3};
  lease.trial = TrialNumber{61234};
  lease.study_name = "digits";
  lease.owner = "ada";
  lease.total = 100'000'000;
  lease.params = R"({"c1":4,"c2":16,"c3":64,"rate":0.001})";
  lease.seed = 2070920112;
  lease.entry = "digits_grid:objective";
  lease.bundle = {std::string(64, 'a'), 2048};
  lease.data = {{"images", "npy", "images.npy", {std::string(64, 'b'), 921728}}};
  lease.chainer = "7.8.1";
  lease.time_limit_ms = 3'600'000;
  lease.lease_ms = 45'000;
  return lease;
}

TrialResult sample_result(std::int64_t points) {
  TrialResult result;
  result.attempt = AttemptId{123455};
  result.seq = 9;
  result.values = {0.9375};
  for (std::int64_t i = 0; i < points; ++i)
    result.points.push_back({i, 2.302585092994046 / static_cast<double>(i + 1)});
  result.metrics = {1812, 40210};
  result.backend = "cpu";
  result.next = true;
  return result;
}

void parse_result(benchmark::State& state) {
  const std::string text = serialize(ClientMessage(sample_result(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(parse_client_message(text));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(parse_result)->Arg(0)->Arg(10)->Arg(1000);

void serialize_result_ack(benchmark::State& state) {
  const ServerMessage message = ResultAck{AttemptId{123455}, 9, Verdict::accepted, sample_lease()};
  for (auto _ : state) benchmark::DoNotOptimize(serialize(message));
}
BENCHMARK(serialize_result_ack);

void grid_point_of_three_names(benchmark::State& state) {
  const std::vector<Dimension> space(3, Dimension{"\"channels\"", {"4", "16", "64", "256"}});
  std::int64_t number = 0;
  for (auto _ : state) benchmark::DoNotOptimize(grid_point(space, number++ % 64));
}
BENCHMARK(grid_point_of_three_names);

}  // namespace
}  // namespace hyperflock::protocol
