// Measures one cycle of the dispatcher: a result arrives, it and the next lease are committed, and
// the acknowledgement is sent. The numbers of workers, studies and researchers vary, to show that
// the cost does not grow with them.
#include <benchmark/benchmark.h>

#include "dispatch/dispatcher.h"

namespace hyperflock::dispatch {
namespace {

class Loop {
 public:
  Loop(std::int64_t workers, std::int64_t studies, std::int64_t researchers)
      : dispatcher_({}, [this] { return ++random_; }) {
    handle(Restored{});
    for (std::int64_t i = 0; i < studies; ++i)
      submit(i, "researcher " + std::to_string(i % researchers));
    for (std::int64_t i = 1; i <= workers; ++i) {
      const auto session = static_cast<SessionId>(i);
      handle(SessionOpened{session, "device " + std::to_string(i), "p", {}, {}});
      handle(MessageReceived{session, protocol::Ready{}});
    }
    open_.swap(leased_);
  }

  // Submits studies that no worker can run, and opens a session that gets no trial.
  void submit_unfit(std::int64_t studies) {
    for (std::int64_t i = 0; i < studies; ++i)
      submit(1'000'000 + i, "researcher 0", {.memory_mb = 1 << 20});
  }
  void idle(std::int64_t workers) {
    for (std::int64_t i = 1; i <= workers; ++i) {
      handle(SessionOpened{SessionId(i), "device " + std::to_string(i), "p", {}, {}});
      ask(i);
    }
  }
  void ask(std::int64_t worker) { handle(MessageReceived{SessionId(worker), protocol::Ready{}}); }

  // Every worker sends a result and gets its next lease.
  std::size_t round() {
    for (const auto& [session, attempt] : open_) {
      protocol::TrialResult result;
      result.attempt = attempt;
      result.seq = 1;
      result.values = {0.5};
      result.next = true;
      handle(MessageReceived{session, std::move(result)});
    }
    open_.swap(leased_);
    leased_.clear();
    return open_.size();
  }

 private:
  void submit(std::int64_t i, const std::string& owner, protocol::Requirements wanted = {}) {
    protocol::StudySpec spec;
    spec.name = "s";
    spec.submit_key = std::to_string(i);
    spec.entry = "m:f";
    spec.bundle = {std::string(64, 'a'), 1};
    protocol::Dimension thousand{"\"x\"", {}};
    for (int value = 0; value < 1000; ++value)
      thousand.values_json.push_back(std::to_string(value));
    spec.space = {thousand, thousand, thousand};
    spec.requires_device = wanted;
    handle(StudySubmitted{RequestId{1}, owner, "p", std::move(spec)});
  }

  // Gives an event to the dispatcher. If the dispatcher then proposes transitions, reports them to
  // it as committed, in place of storage.
  void handle(const Event& event) {
    BatchCommitted committed;
    for (const Effect& effect : dispatcher_.handle(event, now_)) {
      if (const auto* propose = std::get_if<Propose>(&effect)) {
        storage::Outcome outcome;
        if (std::holds_alternative<storage::StoreResult>(propose->transition)) {
          outcome.verdict = protocol::Verdict::accepted;
        }
        committed.outcomes.emplace_back(propose->id, outcome);
      } else if (const auto* send = std::get_if<Send>(&effect)) {
        if (const auto* ack = std::get_if<protocol::ResultAck>(&send->message)) {
          if (ack->lease) leased_.emplace_back(send->session, ack->lease->attempt);
        } else if (const auto* offer = std::get_if<protocol::LeaseOffer>(&send->message)) {
          leased_.emplace_back(send->session, offer->lease.attempt);
        }
      }
    }
    ++now_.ms;
    if (!committed.outcomes.empty()) handle(committed);
  }

  std::uint64_t random_ = 0;
  Dispatcher dispatcher_;
  Instant now_;
  std::vector<std::pair<SessionId, AttemptId>> open_;
  std::vector<std::pair<SessionId, AttemptId>> leased_;
};

void cycle(benchmark::State& state) {
  Loop loop(state.range(0), state.range(1), state.range(2));
  std::size_t cycles = 0;
  for (auto _ : state) cycles += loop.round();
  if (cycles != static_cast<std::size_t>(state.iterations() * state.range(0)))
    state.SkipWithError("a worker got no lease");
  state.SetItemsProcessed(static_cast<std::int64_t>(cycles));
}
BENCHMARK(cycle)
    ->ArgNames({"workers", "studies", "researchers"})
    ->Args({32, 1, 1})
    ->Args({1000, 1, 1})
    ->Args({10'000, 1, 1})
    ->Args({10'000, 100, 1})
    ->Args({10'000, 100, 100})
    ->Args({10'000, 1000, 1})
    ->Args({10'000, 10'000, 1})
    ->Args({10'000, 10'000, 1000});

// A device that waits asks again, while others wait, too, and no study fits.
void question(benchmark::State& state) {
  Loop loop(0, 0, 1);
  loop.submit_unfit(state.range(1));
  loop.idle(state.range(0));
  std::int64_t next = 0;
  for (auto _ : state) loop.ask(1 + next++ % state.range(0));
}
BENCHMARK(question)->ArgNames({"workers", "studies"})->Args({1000, 1})->Args({1000, 1000});

}  // namespace
}  // namespace hyperflock::dispatch
