#include "fixture.h"

#include <algorithm>
#include <stdexcept>

#include "auth/tokens.h"
#include "protocol/json/json_reader.h"
#include "protocol/json/json_writer.h"
#include "storage/sqlite/open.h"
#include "storage/storage.h"
#include "tests/support/test_client.h"

namespace hyperflock::bench {
namespace {

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

std::string study_of(const std::string& name, const std::string& sha256, std::size_t bytes,
                     const std::string& trials) {
  std::string out;
  protocol::ObjectWriter spec(out);
  spec.text("name", name)
      .text("submit_key", name)
      .text("direction", "maximize")
      .text("entry", "bench:run");
  protocol::ObjectWriter(spec.begin("bundle"))
      .text("sha256", sha256)
      .integer("bytes", static_cast<std::int64_t>(bytes))
      .end();
  out += trials;
  spec.raw("data", "[]").integer("seed", 1).raw("runtime", R"({"chainer":"7.8.1"})");
  spec.raw("limits", R"({"time_limit_ms":3600000,"stall_ms":0})").raw("provenance", "{}").end();
  return out;
}

// Submits a study. `trials` is the part of the spec that defines its trials.
std::int64_t submit_study(const ServerProcess& server, const std::string& name,
                          const std::string& trials) {
  const std::string bundle = "not a bundle: nobody runs it";
  const std::string sha256 = auth::token_hash(bundle);
  const net::Headers token{{"Authorization", "Bearer " + server.researcher_token()}};
  require(net::http_request(server.console_port(), "PUT", "/api/blobs/" + sha256, token, bundle),
          201, "PUT blob");
  const auto made = require(net::http_request(server.console_port(), "POST", "/api/studies", token,
                                              study_of(name, sha256, bundle.size(), trials)),
                            201, "POST study");
  return integer_of(made.body, "study");
}

// Returns the space of a grid with 10^8 points, which the benchmark cannot finish.
std::string endless_grid() {
  std::string values = "[0";
  for (int i = 1; i < 10'000; ++i) {
    values += ',';
    values += std::to_string(i);
  }
  values += "]";
  return R"(,"space":[{"name":"a","values":)" + values + R"(},{"name":"b","values":)" + values +
         "}]";
}

}  // namespace

std::int64_t submit(const ServerProcess& server) {
  return submit_study(server, "cycle_bench", endless_grid());
}

std::int64_t submit_asked(const ServerProcess& server) {
  return submit_study(server, "asked_bench", R"(,"kind":"asked")");
}

std::vector<Device> join(const ServerProcess& server, int count) {
  return join(server.compute_port(), server.enrolment_code(), count);
}

std::vector<Device> join(std::uint16_t compute_port, const std::string& enrolment_code, int count) {
  std::string body;
  protocol::ObjectWriter(body)
      .text("code", enrolment_code)
      .text("class", "node")
      .text("engine", "bench")
      .end();
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) {
    const auto joined =
        require(net::http_request(compute_port, "POST", "/api/join", {}, body), 201, "join");
    const auto json = protocol::parse_object(joined.body);
    protocol::Problem problem;
    const protocol::Value device(*json, problem);
    devices.push_back({device["device"].as_text(), device["secret"].as_text()});
  }
  return devices;
}

double metric(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  if (at == std::string::npos) throw std::runtime_error("the server reports no " + name);
  return std::stod(text.substr(at + name.size() + 2));
}

std::string metrics(const ServerProcess& server) {
  return require(net::http_request(server.console_port(), "GET", "/metrics"), 200, "GET /metrics")
      .body;
}

std::unordered_set<std::int64_t> accepted_attempts(const std::string& state, std::int64_t study) {
  constexpr std::int64_t kPage = 10'000;
  auto storage =
      storage::open_sqlite_storage(storage::database_of(state), [] { return std::int64_t{1}; });
  if (!storage) throw std::runtime_error(storage.error().message);
  std::unordered_set<std::int64_t> accepted;
  std::int64_t cursor = 0;
  for (;;) {
    const auto page = (*storage)->finished_trials(StudyId{study}, cursor, kPage);
    if (!page) throw std::runtime_error(page.error().message);
    if (page->empty()) return accepted;
    for (const storage::TrialDetail& trial : *page) {
      if (trial.trial.accepted_attempt) accepted.insert(to_int(*trial.trial.accepted_attempt));
      cursor = trial.trial.seq;
    }
  }
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::chrono::nanoseconds to_duration(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace hyperflock::bench
