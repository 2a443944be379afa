// Measures how many calls of devices per second the owner of an ask-and-tell study answers. Starts
// the release server and keeps 100 emulated devices in a closed loop. One thread is the owner. It
// answers each call at once: it suggests a constant value, and it prunes every fourth trial at step
// 5.
//
//   asked_bench --server build/release/bin/hyperflock-server --state build/bench-state --out
//   build/reports/asked.json
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "asked_emulator.h"
#include "disk_probe.h"
#include "fixture.h"
#include "program.h"
#include "protocol/codec.h"
#include "report.h"
#include "server_process.h"

namespace hyperflock::bench {
namespace {

constexpr const char* kFolder = "asked_bench";

struct Options : ProgramOptions {
  double seconds = 10;
  int devices = 100;
};

// The owner of the study. It answers calls in one thread until it is stopped.
class Owner {
 public:
  Owner(const ServerProcess& server, StudyId study)
      : socket_(server.console_port(), "/ws/client"), study_(study) {
    protocol::Hello hello;
    hello.protocol = protocol::kProtocolVersion;
    hello.role = protocol::Role::researcher;
    hello.token = server.researcher_token();
    hello.agent = "asked_bench";
    send(hello);
    socket_.receive_text();
    send(protocol::Watch{.study = study, .own = protocol::OwnerClaim{"asked_bench", false}});
  }

  void run(const std::atomic<bool>& stop) {
    while (!stop) {
      const std::string text = socket_.receive_text(200);
      if (text.empty()) continue;
      const auto message = protocol::parse_server_message(text);
      const auto* call = message ? std::get_if<protocol::OwnerCall>(&*message) : nullptr;
      if (call == nullptr) throw std::runtime_error("the owner was told: " + text);
      send(answer(*call));
    }
  }

 private:
  protocol::OwnerReply answer(const protocol::OwnerCall& call) {
    protocol::OwnerReply reply{.study = study_, .taken = call.batch, .room = 1'000};
    for (const protocol::OwnerCallItem& item : call.calls) {
      if (const auto* suggest = std::get_if<protocol::SuggestCall>(&item)) {
        reply.answers.push_back({suggest->id, "0.25", "", ""});
      } else if (const auto* prune = std::get_if<protocol::PruneCall>(&item)) {
        const bool ends = to_int(prune->trial) % 4 == 0 && prune->step == 5;
        reply.answers.push_back({prune->id, ends ? "true" : "false", "", ""});
      }
    }
    for (std::int64_t i = 0; i < call.demand; ++i) reply.asked.push_back({TrialNumber{next_++}});
    return reply;
  }
  void send(const protocol::ClientMessage& message) { socket_.send(protocol::serialize(message)); }

  net::TestWebSocket socket_;
  StudyId study_;
  std::int64_t next_ = 0;
};

int run(Options options) {
  using Clock = std::chrono::steady_clock;
  make_state(options, kFolder);
  const double disk = durable_writes_per_s(options.state, 1);
  ServerProcess server(options.server, options.state, {"--log-level", "warning"});
  const StudyId study{submit_asked(server)};
  std::atomic<bool> stop{false};
  std::atomic<bool> failed{false};
  std::thread owning([&] {
    try {
      Owner(server, study).run(stop);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      failed = true;
    }
  });
  AskedEmulator::Counts before;
  AskedEmulator::Counts after;
  double seconds = 0;
  try {
    AskedEmulator emulator(server.compute_port(), join(server, options.devices));
    const auto until = [&](Clock::time_point end) {
      return [&failed, end] { return failed || Clock::now() >= end; };
    };
    const auto run_until = [&](Clock::time_point end) {
      if (!emulator.run(until(end))) throw std::runtime_error("the server closed a connection");
    };
    run_until(Clock::now() + std::chrono::seconds(1));
    before = emulator.counts();
    const auto begin = Clock::now();
    run_until(begin + std::chrono::duration_cast<Clock::duration>(to_duration(options.seconds)));
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    after = emulator.counts();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    failed = true;
  }
  stop = true;
  owning.join();
  if (failed) return 1;
  const auto calls = static_cast<double>(after.calls - before.calls) / seconds;
  const auto trials = static_cast<double>(after.trials() - before.trials()) / seconds;
  const std::vector<Figure> figures{
      {"asked_calls_per_s", calls, "1/s", {}, 0, "16 KiB + fdatasync, one by one, same disk", disk},
      {"asked_trials_per_s", trials, "1/s"},
      {"asked_devices", static_cast<double>(options.devices), "devices"},
  };
  return finish(options.out, "asked", figures);
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  hyperflock::bench::Options options;
  CLI::App app{"Calls a second through one owner of an asked study."};
  hyperflock::bench::add_options(app, options, hyperflock::bench::kFolder);
  app.add_option("--seconds", options.seconds, "measured time")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  app.add_option("--devices", options.devices, "emulated devices")
      ->check(CLI::Range(1, 250))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return hyperflock::bench::exit_status([&] { return hyperflock::bench::run(options); });
}
