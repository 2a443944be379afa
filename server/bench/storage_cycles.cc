// Measures the storage of the server by itself: cycles ("accept a result, start the next attempt")
// per second, on SQLite and on PostgreSQL by turns, in groups of several sizes. Each group is one
// durable commit. PostgreSQL is a server of this machine on a Unix socket with fsync on, which the
// program starts, or the one of --storage, whose schema must be empty.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "disk_probe.h"
#include "program.h"
#include "report.h"
#include "storage/postgres/open.h"
#include "storage/postgres/testing/test_postgres.h"
#include "storage/sqlite/open.h"

namespace hyperflock::bench {
namespace {

using storage::Storage;
using storage::Transition;
using Clock = std::chrono::steady_clock;

constexpr const char* kFolder = "storage_cycles";
// Attempts with consecutive numbers run on different devices.
constexpr std::int64_t kDevices = 1'000;

struct Options : ProgramOptions {
  std::string storage;
  double seconds = 5;
  int rounds = 3;
  std::vector<std::int64_t> groups{16, 64, 256};
};

std::int64_t wall_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string device_of(std::int64_t attempt) {
  return "d3f1a9c07b52" + std::to_string(1'000 + attempt * 619 % kDevices);
}

Transition started(std::int64_t attempt) {
  storage::StartAttempt start;
  start.attempt = AttemptId{attempt};
  start.trial = {StudyId{1}, TrialNumber{attempt - 1}};
  start.device = device_of(attempt);
  start.device_class = "phone";
  start.engine = "chromium 131.0";
  start.adapter = "qualcomm adreno-7xx";
  start.params = R"({"channels_1": 16, "channels_2": 64, "channels_3": 256})";
  start.seed = 4'294'967'295U;
  return start;
}

Transition finished(std::int64_t attempt) {
  storage::StoreResult store;
  store.device = device_of(attempt);
  store.result.attempt = AttemptId{attempt};
  store.result.seq = 3;
  store.result.values = {1.0 / static_cast<double>(attempt)};
  store.result.metrics = {1'500, 2'500};
  store.result.backend = "cpu";
  store.result.software = "worker/1 numpy/2";
  store.result.points = {{10, 0.5}, {20, 0.25}, {30, 0.125}};
  return store;
}

Transition endless_study() {
  storage::CreateStudy create;
  create.id = StudyId{1};
  create.owner = "ada";
  create.project = "default";
  create.spec.name = "digits";
  create.spec.submit_key = "key";
  create.spec.entry = "digits_grid:objective";
  create.spec.bundle = {std::string(64, 'a'), 1'234};
  create.spec.seed = 7;
  create.spec.provenance_json = "{}";
  create.total = kMaxWireInteger;
  return create;
}

std::vector<storage::Outcome> commit(Storage& storage, const std::vector<Transition>& batch) {
  auto outcomes = storage.apply(batch);
  if (!outcomes) throw std::runtime_error(outcomes.error().message);
  return std::move(outcomes).value();
}

// Runs cycles in groups. Knows the newest attempts, so that it can go on where it stopped.
class Cycles {
 public:
  Cycles(std::unique_ptr<Storage> storage, std::int64_t group)
      : storage_(std::move(storage)), group_(group) {
    std::vector<Transition> first{endless_study()};
    for (std::int64_t i = 1; i <= group; ++i) first.push_back(started(i));
    commit(*storage_, first);
  }

  // Returns the cycles per second.
  double run(double seconds) {
    const auto begun = Clock::now();
    std::int64_t cycles = 0;
    double passed = 0;
    while (passed < seconds) {
      std::vector<Transition> batch;
      for (std::int64_t i = next_; i < next_ + group_; ++i) {
        batch.push_back(finished(i));
        batch.push_back(started(i + group_));
      }
      for (const storage::Outcome& outcome : commit(*storage_, batch)) {
        if (outcome.applied != storage::Applied::applied)
          throw std::runtime_error("a transition was not applied");
      }
      next_ += group_;
      cycles += group_;
      passed = std::chrono::duration<double>(Clock::now() - begun).count();
    }
    return static_cast<double>(cycles) / passed;
  }

 private:
  std::unique_ptr<Storage> storage_;
  const std::int64_t group_;
  std::int64_t next_ = 1;
};

std::unique_ptr<Storage> opened(Result<std::unique_ptr<Storage>> storage) {
  if (!storage) throw std::runtime_error(storage.error().code + ": " + storage.error().message);
  return std::move(storage).value();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

int run(Options options) {
  make_state(options, kFolder);
  if (!options.storage.empty() && options.groups.size() > 1)
    throw std::runtime_error("--storage needs one of --groups, because its schema is used once");
  std::vector<Figure> figures;
  const double disk = durable_writes_per_s(options.state, 1);
  figures.push_back({.name = "durable writes of the disk", .value = disk, .unit = "1/s"});
  for (const std::int64_t group : options.groups) {
    const std::string of = " in groups of " + std::to_string(group);
    Cycles sqlite(opened(storage::open_sqlite_storage(
                      options.state + "/" + std::to_string(group) + ".db", wall_now)),
                  group);
    Cycles postgres(
        opened(storage::open_postgres_storage(
            {.url = options.storage.empty() ? storage::TestPostgres::instance().new_schema()
                                            : options.storage,
             .server = "bench"},
            wall_now)),
        group);
    std::vector<double> one;
    std::vector<double> other;
    for (int i = 0; i < options.rounds; ++i) {
      one.push_back(sqlite.run(options.seconds));
      other.push_back(postgres.run(options.seconds));
    }
    const double lite = median(one);
    const double full = median(other);
    Figure figure{.name = "PostgreSQL" + of, .value = full, .unit = "cycles/s"};
    figure.peer = "SQLite";
    figure.peer_value = lite;
    if (group == options.groups.back()) {
      figure.op = ">=";
      figure.goal = 6'000;
    }
    figures.push_back(figure);
    figures.push_back({.name = "PostgreSQL / SQLite" + of, .value = full / lite, .unit = "ratio"});
  }
  return finish(options.out, "storage", figures);
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  using namespace hyperflock::bench;
  Options options;
  CLI::App app{"Measures cycles per second of storage on SQLite and PostgreSQL"};
  app.add_option("--state", options.state, "folder for the databases")->required();
  app.add_option("--out", options.out, "the report, JSON")->required();
  app.add_option("--storage", options.storage, "URL of a PostgreSQL database to measure");
  app.add_option("--seconds", options.seconds, "time of a measurement");
  app.add_option("--rounds", options.rounds,
                 "measurements of each database, of which the median counts");
  app.add_option("--groups", options.groups, "cycles of a commit");
  CLI11_PARSE(app, argc, argv);
  return exit_status([&] { return run(options); });
}
