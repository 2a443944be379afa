// Implements simulate(); see simulation.h.
#include "dispatch/model/simulation.h"

#include <algorithm>
#include <queue>
#include <string>
#include <vector>

#include "dispatch/dispatcher.h"
#include "dispatch/model/scenario.h"

namespace hyperflock::dispatch {
namespace {

const std::array<std::string, 3> kResearchers{"ada", "bob", "eve"};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options)
      : options_(options),
        random_(options.seed),
        dispatcher_({}, [this] { return splitmix64(random_); }),
        devices_(static_cast<std::size_t>(options.devices)) {}

  SimulationResult run() {
    storage::Snapshot snapshot;
    for (std::size_t i = 0; i < kResearchers.size(); ++i)
      snapshot.rules.shares_of_researchers[kResearchers[i]].weight = kSimulatedWeights[i];
    snapshot.rules.shares_of_projects["lender"].lends = {"pool"};
    handle(Restored{snapshot});
    for (std::int64_t i = 0; i < options_.studies; ++i) {
      for (const std::string& owner : kResearchers) submit(owner);
    }
    for (std::size_t i = 0; i < devices_.size(); ++i) join(i);
    const Instant end = now_ + options_.virtual_ms;
    while (!next_.empty() && next_.top().at <= end) {
      const Turn turn = next_.top();
      next_.pop();
      now_ = std::max(now_, turn.at);
      tick();
      act(turn);
    }
    now_ = end;
    count_running();
    return result_;
  }

 private:
  struct Device {
    std::int64_t attempt = 0;  // 0: none
    std::uint8_t researcher = 0;
    Instant leased{};
    Instant ends{};
    std::int64_t beats = 0;
  };
  struct Turn {
    Instant at;
    std::size_t device = 0;
    bool operator<(const Turn& other) const {
      return std::pair(other.at, other.device) < std::pair(at, device);
    }
  };

  static SessionId session_of(std::size_t device) { return SessionId{device + 1}; }
  bool is_lent(std::size_t device) const {
    return static_cast<std::int64_t>(device % 100) < options_.lent_percent;
  }

  void submit(const std::string& owner) {
    protocol::StudySpec spec;
    spec.name = "s";
    spec.submit_key = std::to_string(researcher_of_.size());
    spec.entry = "m:f";
    spec.bundle = {std::string(64, 'a'), 1};
    protocol::Dimension thousand{"\"x\"", {}};
    for (int value = 0; value < 1000; ++value)
      thousand.values_json.push_back(std::to_string(value));
    spec.space = {thousand, thousand};
    handle(StudySubmitted{RequestId{1}, owner, "pool", std::move(spec)});
    const auto found = std::find(kResearchers.begin(), kResearchers.end(), owner);
    researcher_of_.push_back(static_cast<std::uint8_t>(found - kResearchers.begin()));
  }

  void join(std::size_t device) {
    handle(SessionOpened{session_of(device),
                         "device " + std::to_string(device),
                         is_lent(device) ? "lender" : "pool",
                         {{"cpu"}, 4096, 4, "test", "phone"},
                         {}});
    handle(MessageReceived{session_of(device), protocol::Ready{}});
  }

  // Sends the device's result if its trial has ended, and else a heartbeat.
  void act(const Turn& turn) {
    Device& device = devices_[turn.device];
    if (device.attempt == 0) return;  // it waits for a lease
    const AttemptId attempt{device.attempt};
    if (device.ends > now_) {
      ++result_.heartbeats;
      handle(MessageReceived{
          session_of(turn.device),
          protocol::Heartbeat{{{attempt, ++device.beats, protocol::PulseState::running}}}});
      return plan(turn.device);
    }
    ++result_.results;
    result_.device_ms.at(device.researcher) += static_cast<double>(now_ - device.leased);
    device.attempt = 0;
    protocol::TrialResult done;
    done.attempt = attempt;
    done.seq = 1;
    done.values = {0.5};
    done.next = true;
    handle(MessageReceived{session_of(turn.device), std::move(done)});
  }

  void take(SessionId session, const protocol::Lease& lease) {
    const auto index = static_cast<std::size_t>(session) - 1;
    Device& device = devices_[index];
    device.attempt = to_int(lease.attempt);
    device.researcher = researcher_of_.at(static_cast<std::size_t>(to_int(lease.study) - 1));
    const auto& [least, most] = kSimulatedTrialMs.at(device.researcher);
    const auto span = static_cast<std::uint64_t>(most - least + 1);
    device.leased = now_;
    device.ends = now_ + least + static_cast<Millis>(splitmix64(random_) % span);
    device.beats = 0;
    ++result_.leases;
    result_.lent_leases += is_lent(index);
    plan(index);
  }

  void plan(std::size_t index) {
    next_.push({std::min(devices_[index].ends, now_ + options_.heartbeat_ms), index});
  }

  void tick() {
    const auto due = dispatcher_.next_deadline();
    if (due && *due <= now_) handle(Tick{});
  }

  void count_running() {
    for (const Device& device : devices_) {
      if (device.attempt == 0) {
        ++result_.idle_devices;
      } else {
        result_.device_ms.at(device.researcher) += static_cast<double>(now_ - device.leased);
      }
    }
  }

  // Gives an event to the dispatcher, and reports what it proposes as committed.
  void handle(const Event& event) {
    BatchCommitted committed;
    for (const Effect& effect : dispatcher_.handle(event, now_)) {
      if (const auto* propose = std::get_if<Propose>(&effect)) {
        storage::Outcome outcome;
        if (std::holds_alternative<storage::StoreResult>(propose->transition))
          outcome.verdict = protocol::Verdict::accepted;
        committed.outcomes.emplace_back(propose->id, outcome);
      } else if (const auto* send = std::get_if<Send>(&effect)) {
        if (const auto* ack = std::get_if<protocol::ResultAck>(&send->message)) {
          if (ack->lease) take(send->session, *ack->lease);
        } else if (const auto* offer = std::get_if<protocol::LeaseOffer>(&send->message)) {
          take(send->session, offer->lease);
        } else if (std::holds_alternative<protocol::Revoke>(send->message)) {
          ++result_.revoked;
        }
      }
    }
    if (!committed.outcomes.empty()) handle(committed);
  }

  SimulationOptions options_;
  std::uint64_t random_;
  Dispatcher dispatcher_;
  std::vector<Device> devices_;
  std::vector<std::uint8_t> researcher_of_;  // by study
  std::priority_queue<Turn> next_;
  Instant now_{1'000'000};
  SimulationResult result_;
};

}  // namespace

double expected_share(std::size_t researcher) {
  double all = 0;
  for (const std::int64_t weight : kSimulatedWeights) all += static_cast<double>(weight);
  return static_cast<double>(kSimulatedWeights.at(researcher)) / all;
}

SimulationResult simulate(const SimulationOptions& options) { return Simulation(options).run(); }

}  // namespace hyperflock::dispatch
