// Compares the dispatcher with its reference model at full length: `./run model`. Prints how many
// sequences agreed, or the events of the first sequence that did not.
#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/scratch_folder.h"
#include "dispatch/model/walk.h"
#include "storage/sqlite/open.h"

namespace hyperflock::dispatch {
namespace {

struct Options {
  std::uint64_t sequences = 100'000;
  std::uint64_t seed = 0;
  int events = 80;
  int depth = 6;
  unsigned jobs = 2;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Each thread uses its own store, and a new one after this many walks (random sequences), because
// the rows of earlier walks make every restart slower. A walk depends only on its seed, not on the
// thread that runs it.
constexpr std::uint64_t kWalksPerStore = 500;

bool walk_all(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::int64_t> convictions{0};
  std::atomic<bool> failed{false};
  std::mutex output;
  std::vector<std::thread> threads;
  for (unsigned job = 0; job < options.jobs; ++job) {
    threads.emplace_back([&] {
      std::uint64_t mine = next++;
      while (!failed && mine < options.sequences) {
        const ScratchFolder folder(ScratchFolder::Where::memory);
        auto store = storage::open_sqlite_storage(folder.file("walk.db"), [] { return 1; });
        for (std::uint64_t i = 0; i < kWalksPerStore && !failed && mine < options.sequences; ++i) {
          const std::uint64_t seed = options.seed + mine;
          const Walked walked = store ? random_walk(seed, options.events, store->get())
                                      : Walked{.disagreement = store.error().message};
          convictions += walked.convictions;
          if (!walked.disagreement) {
            mine = next++;
            continue;
          }
          failed = true;
          const std::lock_guard lock(output);
          std::printf("seed %llu:\n%s\n", static_cast<unsigned long long>(seed),
                      walked.disagreement->c_str());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failed) return false;
  std::printf(
      "%llu random sequences of %d events over SQLite agree with the model, in which %lld devices "
      "were found to invent a value, %.0f s\n",
      static_cast<unsigned long long>(options.sequences), options.events,
      static_cast<long long>(convictions), seconds_since(start));
  return true;
}

bool explore_orders(int depth, Pauses pauses) {
  const auto start = std::chrono::steady_clock::now();
  const Explored found = explore(depth, pauses);
  if (found.disagreement) {
    std::printf("%s\n", found.disagreement->c_str());
    return false;
  }
  std::printf("%lld orders of %d events of two workers and two trials%s agree with it, %.0f s\n",
              static_cast<long long>(found.sequences), depth,
              pauses == Pauses::some ? ", with pauses," : "", seconds_since(start));
  return true;
}

// Explores all sequences, first without pauses, then with them. Pauses add two kinds of events, so
// there would be too many sequences of the full length. Those with pauses are one event shorter.
bool explore_all(const Options& options) {
  return explore_orders(options.depth, Pauses::none) &&
         explore_orders(options.depth - 1, Pauses::some);
}

}  // namespace
}  // namespace hyperflock::dispatch

int main(int argc, char** argv) {
  hyperflock::dispatch::Options options;
  CLI::App app("The dispatcher against its reference model");
  app.add_option("--sequences", options.sequences, "random sequences");
  app.add_option("--seed", options.seed, "of the first one");
  app.add_option("--events", options.events, "of a random sequence");
  app.add_option("--depth", options.depth, "events whose every order is explored");
  app.add_option("--jobs", options.jobs, "threads");
  CLI11_PARSE(app, argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // minutes pass between the lines
  const bool agreed = explore_all(options) && walk_all(options);
  return agreed ? 0 : 1;
}
