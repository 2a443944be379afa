// Measures storage by itself, on disk with synchronous=FULL: cycles ("accept a result, start the
// next attempt") per second in groups of several sizes, and the time of one group. Also measures
// how long the writer is busy with each piece of a deleted study, of the search for the best trial
// after it was taken back, and of what devices contributed. Set HYPERFLOCK_BENCH_DIR to choose the
// disk.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/testing/scratch_folder.h"
#include "storage/contract/suite.h"
#include "storage/sqlite/storage.h"

namespace hyperflock::storage {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t wall_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Attempts with consecutive numbers run on different devices.
constexpr std::int64_t kDevices = 1'000;

std::string device_of(std::int64_t attempt) {
  return "d3f1a9c07b52" + std::to_string(1'000 + attempt * 619 % kDevices);
}

StartAttempt started(std::int64_t attempt) {
  StartAttempt begun = start(attempt, key(1, attempt - 1), device_of(attempt));
  begun.engine = "chromium 131.0";
  begun.adapter = "qualcomm adreno-7xx";
  begun.params = R"({"channels_1": 16, "channels_2": 64, "channels_3": 256})";
  return begun;
}

// Returns a group of realistic cycles: three parameters, one value and three points each.
std::vector<Transition> group_of(std::int64_t first_attempt, std::int64_t size) {
  std::vector<Transition> batch;
  batch.reserve(static_cast<std::size_t>(size) * 2);
  for (std::int64_t i = first_attempt; i < first_attempt + size; ++i) {
    StoreResult result = complete(i, {1.0 / static_cast<double>(i)}, device_of(i));
    result.result.points = {{10, 0.5}, {20, 0.25}, {30, 0.125}};
    batch.emplace_back(std::move(result));
    batch.emplace_back(started(i + size));
  }
  return batch;
}

void sqlite_cycles(benchmark::State& state) {
  const std::int64_t size = state.range(0);
  if (const char* folder = std::getenv("HYPERFLOCK_BENCH_DIR"); folder != nullptr) {
    ::setenv("TMPDIR", folder, 1);
  }
  const ScratchFolder folder;
  SqliteSettings settings;
  if (state.range(1) > 0) settings.checkpoint_pages = state.range(1);
  const auto storage = SqliteStorage::open(folder.file("db"), wall_now, settings).value();
  CreateStudy study = create_study(1);
  study.total = kMaxWireInteger;
  std::vector<Transition> first = {study};
  for (std::int64_t i = 1; i <= size; ++i) first.push_back(started(i));
  if (!storage->apply(first).has_value()) state.SkipWithError("the first batch failed");

  std::vector<double> group_ms;
  std::int64_t attempt = 1;
  for (auto _ : state) {
    const auto batch = group_of(attempt, size);
    const auto begun = Clock::now();
    const auto outcomes = storage->apply(batch);
    group_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begun).count());
    if (!outcomes || outcomes.value().front().verdict != protocol::Verdict::accepted) {
      state.SkipWithError("a result was not accepted");
      break;
    }
    attempt += size;
  }
  state.SetItemsProcessed(state.iterations() * size);
  std::sort(group_ms.begin(), group_ms.end());
  const auto quantile = [&](double q) {
    return group_ms.empty()
               ? 0.0
               : group_ms[static_cast<std::size_t>(q * static_cast<double>(group_ms.size() - 1))];
  };
  state.counters["p50_ms"] = quantile(0.5);
  state.counters["p99_ms"] = quantile(0.99);
  state.counters["max_ms"] = quantile(1.0);
  const auto megabytes = [&](const std::string& suffix) {
    return static_cast<double>(std::filesystem::file_size(folder.file("db" + suffix))) / 1e6;
  };
  state.counters["db_mb"] = megabytes("");
  state.counters["wal_mb"] = megabytes("-wal");
}

double ms_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

// Returns a SHA-256 that differs for each trial.
std::string content_of(std::int64_t trial) {
  const std::string digits = std::to_string(trial);
  return sha('0').replace(0, digits.size(), digits);
}

// Stores a finished study with `trials` trials. Each has a curve of 20 points and `files` files.
void fill_study(Storage& storage, std::int64_t trials, std::int64_t files) {
  constexpr std::int64_t kGroup = 500;
  CreateStudy study = create_study(1);
  study.total = trials;
  bool ok = storage.apply(std::vector<Transition>{study}).has_value();
  for (std::int64_t first = 1; first <= trials; first += kGroup) {
    std::vector<Transition> batch;
    for (std::int64_t i = first; i < first + kGroup; ++i) {
      batch.emplace_back(start(i, key(1, i - 1), "d3f1a9c07b52e846"));
      for (std::int64_t file = 0; file < files; ++file) {
        StoreArtifact upload{"d3f1a9c07b52e846", {}};
        upload.artifact.id = std::to_string(i) + '-' + std::to_string(file);
        upload.artifact.attempt = AttemptId{i};
        upload.artifact.blob = {content_of(i), 1'000};
        batch.emplace_back(std::move(upload));
      }
      StoreResult result = complete(i, {0.5}, "d3f1a9c07b52e846");
      for (std::int64_t step = 1; step <= 20; ++step)
        result.result.points.push_back({step, 1.0 / static_cast<double>(step)});
      batch.emplace_back(std::move(result));
    }
    ok = ok && storage.apply(batch).has_value();
  }
  ok = ok && storage.apply(std::vector<Transition>{end_study(1, StudyState::finished)}).has_value();
  if (!ok) std::abort();
}

// The arguments are {trials, files of each trial, rows that one piece removes}.
void sqlite_deletion(benchmark::State& state) {
  if (const char* folder = std::getenv("HYPERFLOCK_BENCH_DIR"); folder != nullptr)
    ::setenv("TMPDIR", folder, 1);
  std::vector<double> pieces;
  double first_ms = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const ScratchFolder folder;
    const auto storage = SqliteStorage::open(folder.file("db"), wall_now, {}).value();
    fill_study(*storage, state.range(0), state.range(1));
    state.ResumeTiming();
    const auto begun = Clock::now();
    if (!storage->apply(std::vector<Transition>{DeleteStudy{StudyId{1}}}).has_value())
      state.SkipWithError("it was not deleted");
    first_ms = ms_since(begun);
    for (bool more = true; more;) {
      const auto piece = Clock::now();
      const auto outcomes = storage->apply(std::vector<Transition>{SweepDeleted{state.range(2)}});
      more = outcomes.has_value() && outcomes.value().front().applied == Applied::applied;
      pieces.push_back(ms_since(piece));
    }
  }
  std::sort(pieces.begin(), pieces.end());
  state.counters["first_ms"] = first_ms;
  state.counters["pieces"] = static_cast<double>(pieces.size());
  state.counters["p50_ms"] = pieces[pieces.size() / 2];
  state.counters["p99_ms"] = pieces[pieces.size() * 99 / 100];
  state.counters["max_ms"] = pieces.back();
}

// Measures the erasure of a device from a database with this many attempts by 1,000 devices. The
// device either has no attempts, or as many as the others.
void sqlite_erasure(benchmark::State& state) {
  constexpr std::int64_t kGroup = 1'000;
  constexpr std::int64_t kErased = 20;
  if (const char* folder = std::getenv("HYPERFLOCK_BENCH_DIR"); folder != nullptr)
    ::setenv("TMPDIR", folder, 1);
  const auto joined = [](const std::string& name) {
    return CreateDevice{Device{name, "default", sha('d'), "phone", "chromium 131.0"}, ""};
  };
  const ScratchFolder folder;
  const auto storage = SqliteStorage::open(folder.file("db"), wall_now, {}).value();
  CreateStudy study = create_study(1);
  study.total = kMaxWireInteger;
  std::vector<Transition> batch = {study};
  for (std::int64_t i = 1; i <= kDevices; ++i) batch.push_back(joined(device_of(i)));
  for (std::int64_t i = 1; i <= kGroup; ++i) batch.push_back(started(i));
  bool ok = storage->apply(batch).has_value();
  for (std::int64_t i = 1; i < state.range(0); i += kGroup)
    ok = ok && storage->apply(group_of(i, kGroup)).has_value();
  std::vector<double> idle;
  std::vector<double> busy;
  for (auto _ : state) {
    for (std::int64_t i = 1; i <= kErased; ++i) {
      ok = ok && storage->apply(std::vector<Transition>{joined("idle")}).has_value();
      for (const std::string& device : {std::string("idle"), device_of(i)}) {
        const auto begun = Clock::now();
        ok = ok && storage->apply(std::vector<Transition>{EraseDevice{device}}).has_value();
        (device == "idle" ? idle : busy).push_back(ms_since(begun));
      }
    }
  }
  if (!ok) state.SkipWithError("a transition failed");
  std::sort(idle.begin(), idle.end());
  std::sort(busy.begin(), busy.end());
  state.counters["idle_p50_ms"] = idle[idle.size() / 2];
  state.counters["idle_max_ms"] = idle.back();
  state.counters["busy_p50_ms"] = busy[busy.size() / 2];
  state.counters["busy_max_ms"] = busy.back();
}

// Adds up what 1,000 devices have contributed with this many results, as after an upgrade. Measures
// how long a reader takes for each piece, and the writer.
void sqlite_contributions(benchmark::State& state) {
  constexpr std::int64_t kGroup = 1'000;
  if (const char* folder = std::getenv("HYPERFLOCK_BENCH_DIR"); folder != nullptr)
    ::setenv("TMPDIR", folder, 1);
  const ScratchFolder folder;
  const auto storage = SqliteStorage::open(folder.file("db"), wall_now, {}).value();
  CreateStudy study = create_study(1);
  study.total = kMaxWireInteger;
  std::vector<Transition> batch = {study};
  for (std::int64_t i = 1; i <= kGroup; ++i) batch.push_back(started(i));
  bool ok = storage->apply(batch).has_value();
  for (std::int64_t i = 1; i < state.range(0); i += kGroup)
    ok = ok && storage->apply(group_of(i, kGroup)).has_value();
  std::vector<double> read;
  std::vector<double> written;
  for (auto _ : state) {
    for (bool more = true; more && ok;) {
      auto begun = Clock::now();
      auto piece = storage->next_contributions(day_of(wall_now()), {});
      read.push_back(ms_since(begun));
      ok = piece.has_value();
      more = ok && !piece->last;
      const std::vector<Transition> fold{FoldContributions{std::move(piece).value()}};
      begun = Clock::now();
      const auto outcomes = storage->apply(fold);
      written.push_back(ms_since(begun));
      ok = ok && outcomes.has_value() && outcomes.value().front().applied == Applied::applied;
    }
  }
  if (!ok) state.SkipWithError("a piece was not added");
  std::sort(read.begin(), read.end());
  std::sort(written.begin(), written.end());
  state.counters["pieces"] = static_cast<double>(read.size());
  state.counters["read_p50_ms"] = read[read.size() / 2];
  state.counters["read_max_ms"] = read.back();
  state.counters["p50_ms"] = written[written.size() / 2];
  state.counters["max_ms"] = written.back();
}

// Takes back the best trial of a study with many results. The arguments are {results, trials that
// one piece of the search looks at}.
void sqlite_take_back(benchmark::State& state) {
  constexpr std::int64_t kGroup = 1'000;
  if (const char* folder = std::getenv("HYPERFLOCK_BENCH_DIR"); folder != nullptr)
    ::setenv("TMPDIR", folder, 1);
  const ScratchFolder folder;
  const auto storage = SqliteStorage::open(folder.file("db"), wall_now, {}).value();
  CreateStudy study = create_study(1, "key", protocol::Direction::maximize);
  study.spec.kind = protocol::StudyKind::asked;
  study.spec.space.clear();
  std::vector<Transition> batch{study, ClaimStudy{StudyId{1}, "owner"}};
  for (std::int64_t i = 1; i <= kGroup; ++i) batch.push_back(started(i));
  bool ok = storage->apply(batch).has_value();
  for (std::int64_t i = 1; i < state.range(0); i += kGroup)
    ok = ok && storage->apply(group_of(i, kGroup)).has_value();
  std::vector<double> pieces;
  double first_ms = 0;
  for (auto _ : state) {
    // The first trial has the highest value.
    const std::vector<Transition> rejected{StoreConstraints{key(1, 0), 1, {1.0}}};
    auto begun = Clock::now();
    const auto outcomes = storage->apply(rejected);
    first_ms = ms_since(begun);
    ok = ok && outcomes.has_value() && outcomes.value().front().searches;
    for (bool more = true; more;) {
      begun = Clock::now();
      const auto piece = storage->apply(std::vector<Transition>{SearchBest{state.range(1)}});
      more = piece.has_value() && piece.value().front().applied == Applied::applied;
      pieces.push_back(ms_since(begun));
    }
  }
  ok = ok && storage->study(StudyId{1}).value()->best_trial == TrialNumber{1};
  if (!ok) state.SkipWithError("the best trial was not found");
  std::sort(pieces.begin(), pieces.end());
  state.counters["first_ms"] = first_ms;
  state.counters["pieces"] = static_cast<double>(pieces.size());
  state.counters["p50_ms"] = pieces[pieces.size() / 2];
  state.counters["p99_ms"] = pieces[pieces.size() * 99 / 100];
  state.counters["max_ms"] = pieces.back();
}

// The arguments are {cycles in a group, pages of the log before a checkpoint (0: the default)}.
BENCHMARK(sqlite_cycles)
    ->ArgNames({"group", "pages"})
    ->Args({1, 0})
    ->Args({8, 0})
    ->Args({32, 0})
    ->Args({64, 0})
    ->UseRealTime()
    ->MinTime(3.0);
BENCHMARK(sqlite_cycles)
    ->Name("sqlite_checkpoint")
    ->ArgNames({"group", "pages"})
    ->ArgsProduct({{32}, {250, 1'000, 4'000, 16'000}})
    ->UseRealTime()
    ->MinTime(3.0);
BENCHMARK(sqlite_deletion)
    ->ArgNames({"trials", "files", "rows"})
    ->ArgsProduct({{100'000}, {0, 2}, {1'000, 4'000, 16'000}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// 1,000,000 trials in one piece: the search at once, as it was before there were pieces.
BENCHMARK(sqlite_take_back)
    ->ArgNames({"results", "piece"})
    ->ArgsProduct({{1'000'000}, {500, 1'000, 4'000, 1'000'000'000}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

BENCHMARK(sqlite_contributions)
    ->ArgName("results")
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

BENCHMARK(sqlite_erasure)
    ->ArgName("attempts")
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace hyperflock::storage

BENCHMARK_MAIN();
