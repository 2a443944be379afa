// How many trials a second the server turns over, durably. Starts the release server on a disk,
// keeps 32 emulated workers in a closed loop, then kills the server with SIGKILL while they cycle
// and looks whether each acknowledged result is in the database.
//
//   cycle_bench --server build/release/bin/hyperflock-server --state build/bench-state --out
//   build/reports/server.json
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <unordered_set>

#include "auth/tokens.h"
#include "disk_probe.h"
#include "emulator.h"
#include "net/test_client.h"
#include "protocol/json_reader.h"
#include "protocol/json_writer.h"
#include "report.h"
#include "server_process.h"
#include "storage/storage.h"

namespace hyperflock::bench {
namespace {

struct Options {
  std::string server;
  std::string state;
  std::string out;
  double seconds = 30;
  int workers = 32;
};

constexpr double kWarmUpSeconds = 2;
constexpr double kSecondsBeforeKill = 2;

std::chrono::nanoseconds to_duration(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

net::HttpAnswer require(net::HttpAnswer answer, int status, const char* what) {
  if (answer.status == status) return answer;
  throw std::runtime_error(std::string(what) + " answered " + std::to_string(answer.status) + ": " +
                           answer.body);
}

std::int64_t integer_of(const std::string& json_text, const char* key) {
  const auto json = protocol::parse_object(json_text);
  if (!json) throw std::runtime_error("no JSON: " + json_text);
  protocol::Problem problem;
  return protocol::Value(*json, problem)[key].as_integer();
}

// A grid of 10^8 points, so that it does not end.
std::string endless_grid(const std::string& sha256, std::size_t bytes) {
  std::string values = "[0";
  for (int i = 1; i < 10'000; ++i) {
    values += ',';
    values += std::to_string(i);
  }
  values += "]";
  std::string out;
  protocol::ObjectWriter spec(out);
  spec.text("name", "cycle_bench")
      .text("submit_key", "cycle_bench")
      .text("direction", "maximize")
      .text("entry", "bench:run");
  protocol::ObjectWriter(spec.begin("bundle"))
      .text("sha256", sha256)
      .integer("bytes", static_cast<std::int64_t>(bytes))
      .end();
  spec.raw("space",
           R"([{"name":"a","values":)" + values + R"(},{"name":"b","values":)" + values + "}]");
  spec.raw("data", "[]").integer("seed", 1).raw("runtime", R"({"chainer":"7.8.1"})");
  spec.raw("limits", R"({"time_limit_ms":3600000,"stall_ms":0})").raw("provenance", "{}").end();
  return out;
}

std::int64_t submit(const ServerProcess& server) {
  const std::string bundle = "not a bundle: nobody runs it";
  const std::string sha256 = auth::token_hash(bundle);
  const net::Headers token{{"Authorization", "Bearer " + server.researcher_token()}};
  require(net::http_request(server.console_port(), "PUT", "/api/blobs/" + sha256, token, bundle),
          201, "PUT blob");
  const auto made = require(net::http_request(server.console_port(), "POST", "/api/studies", token,
                                              endless_grid(sha256, bundle.size())),
                            201, "POST study");
  return integer_of(made.body, "study");
}

std::vector<Device> join(const ServerProcess& server, int count) {
  std::string body;
  protocol::ObjectWriter(body)
      .text("code", server.enrolment_code())
      .text("class", "node")
      .text("engine", "bench")
      .end();
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) {
    const auto joined = require(
        net::http_request(server.compute_port(), "POST", "/api/join", {}, body), 201, "join");
    const auto json = protocol::parse_object(joined.body);
    protocol::Problem problem;
    const protocol::Value device(*json, problem);
    devices.push_back({device["device"].as_text(), device["secret"].as_text()});
  }
  return devices;
}

// The value of a metric without labels.
double metric(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  if (at == std::string::npos) throw std::runtime_error("the server reports no " + name);
  return std::stod(text.substr(at + name.size() + 2));
}

std::string metrics(const ServerProcess& server) {
  return require(net::http_request(server.console_port(), "GET", "/metrics"), 200, "GET /metrics")
      .body;
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Acknowledged results that the database does not have as accepted, after the server was killed.
std::int64_t lost(const Options& options, std::int64_t study,
                  const std::vector<std::int64_t>& acknowledged) {
  auto storage = storage::open_sqlite_storage(options.state + "/hyperflock.db",
                                              [] { return std::int64_t{1}; });
  if (!storage) throw std::runtime_error(storage.error().message);
  std::unordered_set<std::int64_t> stored;
  std::int64_t cursor = 0;
  for (;;) {
    const auto page = (*storage)->finished_trials(StudyId{study}, cursor, 10'000);
    if (!page) throw std::runtime_error(page.error().message);
    if (page->empty()) break;
    for (const storage::TrialDetail& trial : *page) {
      if (trial.trial.accepted_attempt) stored.insert(to_int(*trial.trial.accepted_attempt));
      cursor = trial.trial.seq;
    }
  }
  return std::ranges::count_if(
      acknowledged, [&stored](std::int64_t attempt) { return !stored.contains(attempt); });
}

int run(Options options) {
  options.state += "/cycle_bench";  // only what this program made is removed
  std::filesystem::remove_all(options.state);
  std::filesystem::create_directories(options.state);
  const double disk_before = durable_writes_per_s(options.state, 1);

  ServerProcess server(options.server, options.state, {"--log-level", "warning"});
  const std::int64_t study = submit(server);
  Emulator emulator(server.compute_port(), join(server, options.workers));
  emulator.run(to_duration(kWarmUpSeconds));

  const std::size_t cycles_before = emulator.acknowledged().size();
  const std::string before = metrics(server);
  const auto start = Emulator::Clock::now();
  emulator.measure();
  emulator.run(to_duration(options.seconds));
  emulator.stop_measuring();
  const double seconds = std::chrono::duration<double>(Emulator::Clock::now() - start).count();
  const auto cycles = static_cast<double>(emulator.acknowledged().size() - cycles_before);
  const std::string after = metrics(server);

  emulator.run(to_duration(kSecondsBeforeKill));
  server.kill();
  emulator.take_rest();
  const std::int64_t missing = lost(options, study, emulator.acknowledged());
  const double disk = (disk_before + durable_writes_per_s(options.state, 1)) / 2;

  const double commits =
      (metric(after, "commits_total") - metric(before, "commits_total")) / seconds;
  const double transitions =
      metric(after, "commit_batch_size_sum") - metric(before, "commit_batch_size_sum");
  const double cycles_per_s = cycles / seconds;
  const std::vector<Figure> figures{
      // The peer is what a server can reach at best that makes each cycle durable by itself.
      {"cycles_per_s", cycles_per_s, "1/s", ">=", 2000, "16 KiB + fdatasync, one by one, same disk",
       disk},
      {"cycles_p50_ms", percentile(emulator.latencies_ms(), 0.50), "ms"},
      {"cycles_p99_ms", percentile(emulator.latencies_ms(), 0.99), "ms", "<=", 30},
      {"cycles_max_ms", percentile(emulator.latencies_ms(), 1.0), "ms"},
      {"cycles_per_disk_write", cycles_per_s / disk, "ratio", ">=", 2},
      {"cycles_per_commit", cycles / (commits * seconds), "cycles"},
      {"transitions_per_cycle", transitions / cycles, "transitions"},
      // PRAGMA synchronous as the server reads it back; 2 is FULL.
      {"storage_synchronous", metric(after, "storage_synchronous"), "level", ">=", 2},
      {"acknowledged", static_cast<double>(emulator.acknowledged().size()), "results"},
      {"lost_acknowledged", static_cast<double>(missing), "results", "<=", 0},
  };
  for (const Figure& figure : figures) {
    std::printf("%-24s %12.2f %s\n", figure.name.c_str(), figure.value, figure.unit.c_str());
  }
  write_report(options.out, "server", figures);
  if (all_reached(figures)) return 0;
  std::puts("A goal was missed.");
  return 1;
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  hyperflock::bench::Options options;
  CLI::App app{"Durable trial cycles a second of hyperflock-server."};
  app.add_option("--server", options.server, "the release build's hyperflock-server")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--state", options.state,
                 "a folder on a real disk; a folder cycle_bench in it is made anew")
      ->required();
  app.add_option("--out", options.out, "the report")->required();
  app.add_option("--seconds", options.seconds, "measured time")
      ->check(CLI::Range(1.0, 600.0))
      ->capture_default_str();
  app.add_option("--workers", options.workers, "emulated devices")
      ->check(CLI::Range(1, 250))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return hyperflock::bench::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
