// The scheduler as a pure state machine: it turns events into effects. It has no Asio, SQLite,
// clock, thread, or own random source. One owner calls it, from one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "dispatch/effect.h"
#include "dispatch/event.h"
#include "dispatch/placement.h"
#include "storage/reported_points.h"

namespace hyperflock::dispatch {

// A device that has given the same values for so many trials of a study in a row is barred from it,
// and so many of these trials run again on other devices (R75). The number is odd, because most of
// them decide.
inline constexpr std::int64_t kSameValues = 3;

struct Settings {
  Millis lease_ms = 45'000;
  Millis heartbeat_ms = 10'000;
  Millis wait_ms = 20'000;             // mean of wait.delay_ms; jittered by half
  Millis loading_ms = 600'000;         // the limit for fetching and starting a runtime
  Millis min_speculative_ms = 20'000;  // shorter runs get no duplicate (R36)
  Millis call_ms = 60'000;             // how long a call waits for an owner (R43)
  Millis hold_ms = 10'000;             // how long an owner can keep a worker from other work (R45)
  Millis no_devices_ms = 300'000;      // how long a study has no device until it is noted (R62)
  Millis aging_ms = 600'000;           // after this time nobody is passed over any more (R70)
  Millis bar_ms = 600'000;             // of a device that fails trials in a row, at first (R72)
  Millis longest_bar_ms = 86'400'000;  // each further failure makes it four times as long
  // How many complete results with points, of how many devices, a study has until one without
  // points is odd (R74). At most kDevicesWithPoints devices.
  std::int64_t results_with_points = storage::kResultsWithPoints;
  std::size_t devices_with_points = storage::kDevicesWithPoints;
  std::int64_t same_values = kSameValues;  // in a row from which on they are odd (R75)
  int max_leases = 1;
  std::int64_t rejection_trials = storage::kRejectionTrials;  // looked at in one commit (R71)
  std::string server_version{};      // in `welcome` and in results' software
  std::set<std::string> runtimes{};  // ids of those that this server has (R58)
};

// The data of a connected worker that operators see.
struct WorkerView {
  SessionId session{};
  std::string device;
  std::string project;
  protocol::Capabilities capabilities;
  std::optional<AttemptId> attempt;
  std::optional<TrialKey> trial;
};

// Selects a page of sessions: at most `limit`, after the session `after`, of `projects` or of all
// projects.
struct WorkerQuery {
  std::optional<std::vector<std::string>> projects{};
  SessionId after{};
  std::size_t limit = 500;
};
struct WorkerPage {
  std::vector<WorkerView> workers;  // in the order of their sessions
  SessionId cursor{};               // the next page's `after`
  bool more = false;                // sessions follow that were not looked at
};
// The most sessions that are looked at for one page.
inline constexpr std::size_t kScannedSessions = 20'000;

struct Counters {
  std::int64_t workers = 0;
  std::int64_t leased = 0;         // running attempts
  std::int64_t queued = 0;         // trials that wait to be issued again
  std::int64_t owners = 0;         // attached owners of ask-and-tell studies
  std::int64_t calls_waiting = 0;  // questions of devices that wait for an owner's answer
  std::int64_t demand = 0;         // trials that owners know they could ask for
  bool read_only = false;
  bool draining = false;
};

struct State;  // state.h

class Dispatcher {
 public:
  // `random` returns uniform 64-bit numbers. They are used for jitter only, so results do not
  // depend on them.
  Dispatcher(Settings settings, std::function<std::uint64_t()> random);
  ~Dispatcher();
  // Copies the state. The copy calls the same `random`.
  Dispatcher(const Dispatcher& other);
  Dispatcher& operator=(const Dispatcher&) = delete;

  // REQUIRES: events come in the order in which they happened, and `now` never goes back.
  Effects handle(const Event& event, Instant now);

  // Returns when the next Tick is due; nullopt if no Tick is due.
  std::optional<Instant> next_deadline() const;

  WorkerPage workers(const WorkerQuery& query) const;
  Placement placement(const PlacementQuery& query) const;
  Counters counters() const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace hyperflock::dispatch
