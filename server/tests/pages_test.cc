// Tests that every list comes in pages. Each route that answers with JSON is either in the table of
// lists or in the table of single things, so a new list without pages fails here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "blobs/sha256.h"
#include "http/compute/compute_site.h"
#include "http/console/console_site.h"
#include "tests/support/test_uploads.h"

namespace hyperflock::app {
namespace {

using nlohmann::json;

// The routes of lists, each with the key of its rows in the answer.
const std::map<std::string, std::string> kLists{
    {"/api/studies", "studies"},
    {"/api/studies/{}/artifacts", "artifacts"},
    {"/api/studies/{}/trials", "trials"},
    {"/api/studies/{}/best", "trials"},
    {"/api/studies/{}/unfinished", "trials"},
    {"/api/studies/{}/trials/{}/log", "lines"},
    {"/api/studies/{}/series", "series"},
    {"/api/studies/{}/series/trials", "trials"},
    {"/api/studies/{}/series/unfinished", "trials"},
    {"/api/workers", "workers"},
    {"/api/projects", "projects"},
    {"/api/enrolment", "enrolments"},
    {"/api/tokens", "tokens"},
    {"/api/researchers", "researchers"},
    {"/api/device-reports", "reports"},
    {"/api/audit", "entries"},
    {"/api/barred", "barred"},
    {"/api/ceilings", "ceilings"},
    {"/api/shares", "shares"},
    {"/api/approvals", "studies"},
};

// The routes that answer with one object, without JSON, or with lines (which are paged, too).
const std::set<std::string> kSingleThings{
    "/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/metrics/own",
    "/ws/client",
    "/ws/worker",
    "/api/me",
    "/api/device/contribution",
    "/api/blobs/{}",
    "/api/blobs/{}/link",
    "/blobs/{}/{}/{}/{}",
    "/api/attempts/{}/checkpoint",
    "/api/studies/{}",
    "/api/studies/{}/spec",
    "/api/studies/{}/blobs/{}",
    "/api/studies/{}/artifacts/{}",
    "/api/studies/{}/trials/{}",
    "/api/studies/{}/trials/{}/series",
    "/api/studies/{}/placement",
    "/api/audit/export",
};

TEST(PagesTable, EveryRouteIsAListOrASingleThing) {
  std::set<std::string> lists;
  for (const auto& routes : {http::console_routes(), http::compute_routes()}) {
    for (const http::Route& route : routes) {
      if (route.method != http::Method::get) continue;
      const std::string pattern(route.pattern);
      if (kLists.contains(pattern)) {
        lists.insert(pattern);
        EXPECT_EQ(route.cost, http::Cost::costly) << pattern;
      } else {
        EXPECT_TRUE(kSingleThings.contains(pattern))
            << pattern << " is new: is it a list? Then it needs pages, and a line in kLists.";
      }
    }
  }
  EXPECT_EQ(lists.size(), kLists.size());
}

class Pages : public ::testing::Test {
 protected:
  Pages() : device_(server_.join()), worker_(server_, device_) {}

  json get(const std::string& target) const {
    const auto answer = server_.rest_as(server_.secrets().admin_token, "GET", target);
    EXPECT_EQ(answer.status, 200) << target << " " << answer.body;
    return json::parse(answer.body);
  }

  void post(const std::string& target, const std::string& body) const {
    const auto answer = server_.rest_as(server_.secrets().admin_token, "POST", target, body);
    EXPECT_EQ(answer.status, 201) << target << " " << answer.body;
  }

  // Reads a list at once and then in pages of one row. Checks that the rows are the same.
  void check(const std::string& target, const std::string& key) const {
    SCOPED_TRACE(target);
    const json rows = get(target).at(key);
    EXPECT_GE(rows.size(), 2U) << "this test needs several rows";
    json found = json::array();
    std::int64_t after = 0;
    for (std::size_t i = 0; i <= rows.size(); ++i) {
      const json page = get(target + "?limit=1&after=" + std::to_string(after));
      ASSERT_TRUE(page.contains("cursor"));
      ASSERT_LE(page.at(key).size(), 1U);
      if (page.at(key).empty()) break;
      found.push_back(page.at(key).front());
      if (page.contains("more")) EXPECT_EQ(page.at("more"), found.size() < rows.size());
      if (page.contains("more") && !page.at("more")) break;
      after = page.at("cursor");
    }
    EXPECT_EQ(found, rows);
    for (const char* wrong : {"limit=0", "limit=x", "limit=99999999", "after=-1", "after=x"}) {
      EXPECT_EQ(status_and_code(
                    server_.rest_as(server_.secrets().admin_token, "GET", target + "?" + wrong)),
                "422 bad_number")
          << wrong;
    }
  }

  TestServer server_;
  TestDevice device_;
  TestWorker worker_;
};

TEST_F(Pages, ListsOfTheServer) {
  for (const char* name : {"grace", "kay"})
    post("/api/researchers", R"({"name":")" + std::string(name) + "\"}");
  post("/api/projects", R"({"project":"Birds"})");
  post("/api/enrolment", "{}");
  for (int i = 0; i < 3; ++i) server_.submit(1, "k" + std::to_string(i));
  const TestWorker second(server_, server_.join());
  for (int i = 0; i < 2; ++i) {
    const auto sent =
        net::http_request(server_.compute(), "POST", "/api/device-reports", {},
                          R"({"code":")" + server_.secrets().enrolment_code +
                              R"(","report":{"class":"phone","engine":"e","checks":[]}})");
    EXPECT_EQ(sent.status, 201) << sent.body;
  }
  const auto change = [this](const std::string& target, const std::string& body) {
    EXPECT_EQ(server_.rest_as(server_.secrets().admin_token, "POST", target, body).status, 200);
  };
  for (const char digit : {'a', 'b'}) change("/api/barred/" + std::string(64, digit), "{}");
  change("/api/ceilings", R"({"scope":"project","name":"Birds","devices":3})");
  change("/api/ceilings", R"({"scope":"server","approval":true})");
  change("/api/shares", R"({"scope":"project","name":"Birds","guaranteed":3})");
  change("/api/shares", R"({"scope":"project","name":"First project","lends":["Birds"]})");
  for (int i = 3; i < 6; ++i) server_.submit(1, "k" + std::to_string(i));
  for (const auto& [pattern, key] : kLists) {
    if (pattern.find("{}") == std::string::npos) check(pattern, key);
  }
}

// Two trials are complete, and neither beats the other; two have begun. Each logs series, prints
// lines and uploads files.
TEST_F(Pages, ListsOfAStudy) {
  const std::int64_t study = server_.submit_asked("asked", 2);
  TestOwner owner(server_, study);
  owner.receive();
  owner.asks({0, 1, 2, 3});
  const TestDevice others[2] = {server_.join(), server_.join()};
  TestWorker running[2] = {TestWorker(server_, others[0]), TestWorker(server_, others[1])};
  const auto work = [](TestWorker& worker, const protocol::Lease& lease) {
    protocol::Report report{lease.attempt, 1, {}};
    report.series = protocol::Series{{0, 1}, {{"loss", {2.5, 1.5}}, {"acc", {0.1, 0.2}}}};
    worker.send(report);
    worker.receive<protocol::Ack>();
  };
  for (TestWorker& worker : running) work(worker, worker.await_lease());
  for (int i = 0; i < 2; ++i) {
    const protocol::Lease lease = worker_.await_lease();
    work(worker_, lease);
    worker_.send(protocol::Output{lease.attempt, {"one", "two"}});
    for (const char* id : {"a", "b"}) {
      const std::string bytes = "file " + std::string(id);
      const auto sent =
          ask(server_, device_, "PUT",
              path_of(lease) + "/artifacts/" + blobs::sha256_hex(bytes) + "?id=" + id +
                  std::to_string(i) + "&name=f&type=text%2Fplain&store=s",
              bytes);
      ASSERT_EQ(sent.status, 201) << sent.body;
    }
    protocol::TrialResult result = TestWorker::result(lease.attempt, i, 2);
    result.values = {static_cast<double>(i), static_cast<double>(-i)};
    worker_.send(result);
    ASSERT_EQ(worker_.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
  }
  const std::string trial =
      get("/api/studies/" + std::to_string(study) + "/trials").at("trials")[0].at("trial").dump();
  for (const auto& [pattern, key] : kLists) {
    std::string target = pattern;
    std::size_t at = target.find("{}");
    if (at == std::string::npos) continue;
    target.replace(at, 2, std::to_string(study));
    at = target.find("{}");
    if (at != std::string::npos) target.replace(at, 2, trial);
    check(target, key);
  }
}

}  // namespace
}  // namespace hyperflock::app
