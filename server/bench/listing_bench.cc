// Measures whether a request costs more with many studies or many join links than with few. Starts
// a release server for each number of studies, on databases that are written directly through
// storage, sends the same requests to all of them in turn, and reports the ratios of their times.
// Because the servers take turns, a busy machine slows all of them down alike.
//
//   listing_bench --server build/release/bin/hyperflock-server --state build/bench-state --out
//   build/reports/listing.json
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "auth/tokens.h"
#include "fixture.h"
#include "program.h"
#include "report.h"
#include "server_process.h"
#include "storage/sqlite/open.h"
#include "tests/support/test_client.h"

namespace hyperflock::bench {
namespace {

constexpr const char* kFolder = "listing_bench";
constexpr double kMostRatio = 1.2;
constexpr std::size_t kBatch = 2'000;
// One study in this many is still running; the others have ended.
constexpr std::int64_t kRunningOneIn = 100;

struct Options : ProgramOptions {
  int rounds = 2'000;
  int few = 10;
  std::vector<int> many{1'500, 150'000};
  int codes = 20'000;
};

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void apply(storage::Storage& storage, std::vector<storage::Transition>& batch) {
  const auto outcomes = storage.apply(batch);
  if (!outcomes) throw std::runtime_error(outcomes.error().message);
  for (const storage::Outcome& outcome : *outcomes) {
    if (outcome.applied != storage::Applied::applied)
      throw std::runtime_error("a transition was refused");
  }
  batch.clear();
}

// Adds studies with one finished trial each, and join links.
void fill(const std::string& state_folder, int studies, int codes) {
  auto opened = storage::open_sqlite_storage(storage::database_of(state_folder), now_ms);
  if (!opened) throw std::runtime_error(opened.error().message);
  storage::Storage& storage = **opened;
  const auto identities = storage.identities();
  if (!identities) throw std::runtime_error(identities.error().message);
  const std::string project = identities->projects.front().name;
  const std::string owner =
      std::ranges::find(identities->principals, storage::PrincipalRole::researcher,
                        &storage::Principal::role)
          ->name;
  std::vector<storage::Transition> batch;
  for (std::int64_t id = 1; id <= studies; ++id) {
    storage::CreateStudy create;
    create.id = StudyId{id};
    create.owner = owner;
    create.project = project;
    create.spec.name = "study " + std::to_string(id);
    create.spec.submit_key = "key " + std::to_string(id);
    create.spec.entry = "main:objective";
    create.spec.bundle = {std::string(64, 'a'), 1'000};
    create.spec.space = {{"\"x\"", {"1", "2", "3"}, {}}};
    create.spec.chainer = "7.8.1";
    create.spec.provenance_json = "{}";
    create.spec.time_limit_ms = 60'000;
    create.total = 3;
    storage::StartAttempt start;
    start.attempt = AttemptId{id};
    start.trial = {StudyId{id}, TrialNumber{0}};
    start.device = "d_bench";
    start.params = R"({"x":1})";
    storage::StoreResult result;
    result.device = start.device;
    result.result.attempt = start.attempt;
    result.result.seq = 1;
    result.result.values = {0.5};
    batch.insert(batch.end(), {create, start, result});
    if (id % kRunningOneIn != 0) batch.emplace_back(storage::EndStudy{StudyId{id}});
    if (batch.size() >= kBatch) apply(storage, batch);
  }
  for (int i = 0; i < codes; ++i) {
    batch.emplace_back(storage::CreateEnrolment{
        {.code_hash = auth::token_hash("code " + std::to_string(i)), .project = project}});
    if (batch.size() >= kBatch) apply(storage, batch);
  }
  if (!batch.empty()) apply(storage, batch);
}

// A server with its database, and a connection that stays open.
class Filled {
 public:
  Filled(const Options& options, int studies, int codes) : studies_(studies) {
    const std::string folder =
        options.state + "/" + std::to_string(studies) + "-" + std::to_string(codes);
    std::filesystem::create_directories(folder);
    const std::vector<std::string> flags{"--log-level", "error", "--insecure"};
    ServerProcess(options.server, folder, flags).kill();  // makes the first identities
    fill(folder, studies, codes);
    const auto began = std::chrono::steady_clock::now();
    server_ = std::make_unique<ServerProcess>(options.server, folder, flags);
    start_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

  int studies() const { return studies_; }
  double start_s() const { return start_s_; }
  const ServerProcess& server() const { return *server_; }

  // Sends the request and returns how long the answer took, in milliseconds.
  double ask(std::uint16_t port, const std::string& request) {
    if (port_ != port) {
      socket_ = std::make_unique<net::TestSocket>(port);
      port_ = port;
    }
    const auto began = std::chrono::steady_clock::now();
    const net::HttpAnswer answer = net::http_raw(*socket_, request);
    if (answer.status == 0) throw std::runtime_error("a server did not answer");
    status_ = answer.status;
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
        .count();
  }
  int status() const { return status_; }

 private:
  int studies_;
  double start_s_ = 0;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<net::TestSocket> socket_;
  std::uint16_t port_ = 0;
  int status_ = 0;
};

std::string request_of(const std::string& line, const std::string& headers,
                       const std::string& body) {
  return line + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// One kind of request: its port, its bytes, and the statuses that its answer may have.
struct Kind {
  std::string name;
  std::uint16_t (ServerProcess::*port)() const;
  std::function<std::string(const ServerProcess&)> request;
  std::vector<int> statuses;
};

std::vector<Kind> kinds() {
  const auto with_code = [](const std::string& code) {
    return request_of("POST /api/project", "", R"({"code":")" + code + "\"}");
  };
  const auto by_researcher = [](const std::string& target) {
    return [target](const ServerProcess& server) {
      return request_of("GET " + target,
                        "Authorization: Bearer " + server.researcher_token() + "\r\n", "");
    };
  };
  return {
      {"POST /api/project",
       &ServerProcess::compute_port,
       [=](const ServerProcess& server) { return with_code(server.enrolment_code()); },
       {200}},
      {"GET /api/studies?limit=10",
       &ServerProcess::console_port,
       by_researcher("/api/studies?limit=10"),
       {200}},
      {"GET /api/me", &ServerProcess::console_port, by_researcher("/api/me"), {200}},
      // No enrolment has this code. The server searches for it and answers 403, or 429 after too
      // many wrong codes.
      {"wrong join code",
       &ServerProcess::compute_port,
       [=](const ServerProcess&) { return with_code("hfe_wrong"); },
       {403, 429}},
  };
}

// Sends each request to all servers in turn. Returns the times by server.
std::vector<std::vector<double>> measure(const std::vector<std::unique_ptr<Filled>>& servers,
                                         const Kind& kind, int rounds) {
  std::vector<std::vector<double>> times(servers.size());
  const int warm = std::max(10, rounds / 10);
  for (int round = 0; round < rounds + warm; ++round) {
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const std::size_t at = (i + static_cast<std::size_t>(round)) % servers.size();
      Filled& filled = *servers[at];
      const double ms = filled.ask((filled.server().*kind.port)(), kind.request(filled.server()));
      if (std::ranges::count(kind.statuses, filled.status()) == 0)
        throw std::runtime_error(kind.name + " was answered " + std::to_string(filled.status()));
      if (round >= warm) times[at].push_back(ms);
    }
  }
  return times;
}

// Appends percentiles of each server's times, and their ratios to those of the first server.
void report(const std::string& name, const std::vector<std::vector<double>>& times,
            const std::vector<std::string>& labels, std::vector<Figure>& figures) {
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (const auto& [word, part] : {std::pair{"p50", 0.5}, std::pair{"p99", 0.99}}) {
      const double ms = percentile(times[i], part);
      figures.push_back({name + " " + labels[i] + " " + word, ms, "ms"});
      if (i == 0) continue;
      figures.push_back({name + " " + labels[i] + " " + word + " ratio",
                         ms / percentile(times[0], part), "of " + labels[0], "<=", kMostRatio});
    }
  }
}

int run(Options options) {
  make_state(options, kFolder);
  std::vector<Figure> figures;
  {
    std::vector<std::unique_ptr<Filled>> servers;
    std::vector<std::string> labels;
    std::vector<int> counts{options.few};
    counts.insert(counts.end(), options.many.begin(), options.many.end());
    for (const int count : counts) {
      servers.push_back(std::make_unique<Filled>(options, count, 0));
      labels.push_back(std::to_string(count) + " studies");
      figures.push_back({"start with " + labels.back(), servers.back()->start_s(), "s"});
    }
    for (const Kind& kind : kinds())
      report(kind.name, measure(servers, kind, options.rounds), labels, figures);
  }
  {
    std::vector<std::unique_ptr<Filled>> servers;
    servers.push_back(std::make_unique<Filled>(options, 0, 1));
    servers.push_back(std::make_unique<Filled>(options, 0, options.codes));
    const std::vector<std::string> labels{"1 code", std::to_string(options.codes) + " codes"};
    const Kind wrong = kinds().back();
    report(wrong.name, measure(servers, wrong, options.rounds), labels, figures);
  }
  return finish(options.out, "listing", figures);
}

}  // namespace
}  // namespace hyperflock::bench

int main(int argc, char** argv) {
  using namespace hyperflock::bench;
  Options options;
  CLI::App app{"Compares the cost of requests with few and with many studies and join links"};
  add_options(app, options, kFolder);
  app.add_option("--rounds", options.rounds, "requests of each kind to each server");
  app.add_option("--few", options.few, "studies of the server that the others are compared with");
  app.add_option("--many", options.many, "studies of the other servers");
  app.add_option("--codes", options.codes, "join links of the server with many of them");
  CLI11_PARSE(app, argc, argv);
  return exit_status([&] { return run(options); });
}
