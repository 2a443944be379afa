// Tests which role may use which route: every route of both origins is compared with the table of
// access.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "http/compute/compute_site.h"
#include "http/console/console_site.h"
#include "paths.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::http_request;

constexpr int kRoles = 4;  // the table's columns: nobody, device, researcher, administrator

using Table = std::map<std::string, std::vector<bool>>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t from = line.find('|');
  while (from != std::string::npos) {
    const std::size_t to = line.find('|', from + 1);
    if (to == std::string::npos) break;
    std::string cell = line.substr(from + 1, to - from - 1);
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    cells.push_back(cell);
    from = to;
  }
  return cells;
}

// Returns the rows "| `GET /x` | yes | ..." between two headings.
Table documented(const std::string& heading) {
  std::ifstream in(std::string(kSourceDirectory) + "/server/docs/access.md");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  Table table;
  std::size_t at = text.find("\n" + heading + "\n");
  EXPECT_NE(at, std::string::npos) << heading;
  bool begun = false;
  while (at != std::string::npos) {
    const std::size_t end = text.find('\n', at + 1);
    const std::string line = text.substr(at + 1, end - at - 1);
    at = end;
    if (!line.starts_with("| `")) {
      if (begun) break;
      continue;
    }
    begun = true;
    const auto cells = cells_of(line);
    EXPECT_EQ(cells.size(), 1U + kRoles) << line;
    std::vector<bool>& may = table[cells[0].substr(1, cells[0].size() - 2)];
    for (std::size_t i = 1; i < cells.size(); ++i) {
      EXPECT_TRUE(cells[i] == "yes" || cells[i] == "no") << line;
      may.push_back(cells[i] == "yes");
    }
  }
  return table;
}

std::string method_of(http::Method method) {
  switch (method) {
    case http::Method::get:
      return "GET";
    case http::Method::head:
      return "HEAD";
    case http::Method::post:
      return "POST";
    case http::Method::remove:
      return "DELETE";
    default:
      return "PUT";
  }
}

std::string name_of(const http::Route& route) {
  return method_of(route.method) + " " + std::string(route.pattern);
}

// Replaces each {} of the route by a well-formed value that does not exist.
std::string target_of(const http::Route& route) {
  std::string target(route.pattern);
  const std::string value =
      target.starts_with("/api/blobs/") ? std::string(64, '0') : std::string("999");
  for (std::size_t at = target.find("{}"); at != std::string::npos; at = target.find("{}"))
    target.replace(at, 2, value);
  return target;
}

class Roles : public ::testing::Test {
 protected:
  std::vector<net::Headers> credentials() const {
    return {{},
            {{"Authorization", "Device " + device_.id + ":" + device_.secret}},
            {{"Authorization", "Bearer " + server_.secrets().researcher_token}},
            {{"Authorization", "Bearer " + server_.secrets().admin_token}}};
  }

  // Returns for each route which roles may use it. The requests are otherwise invalid, so they
  // change nothing.
  Table observed(std::uint16_t port, std::span<const http::Route> routes) const {
    Table table;
    for (const http::Route& route : routes) {
      std::vector<bool>& may = table[name_of(route)];
      for (const net::Headers& headers : credentials()) {
        const bool has_body =
            route.method == http::Method::post || route.method == http::Method::put;
        const auto answer = http_request(port, method_of(route.method), target_of(route), headers,
                                         has_body ? "[" : "");
        const std::string code = json_at(answer.body, "error.code");
        EXPECT_NE(answer.status, 0) << name_of(route);
        EXPECT_NE(answer.status, 405) << name_of(route);
        may.push_back(code != "unauthorized" && code != "forbidden" && code != "rate_limited" &&
                      answer.status != 401);
      }
    }
    return table;
  }

  TestServer server_{[](ServeConfig& config) {
    config.console = {"0.0.0.0", 0};  // an address on which /metrics requires a token
    config.insecure = true;
  }};
  const TestDevice device_ = server_.join();
};

TEST_F(Roles, OfTheConsoleAreThoseOfTheDocument) {
  EXPECT_EQ(observed(server_.console(), http::console_routes()), documented("## The console"));
}

TEST_F(Roles, OfTheComputeOriginAreThoseOfTheDocument) {
  // The request that erases the device comes last, because the server does not know the device
  // afterwards.
  std::vector<http::Route> routes(http::compute_routes().begin(), http::compute_routes().end());
  std::ranges::stable_partition(
      routes, [](const http::Route& one) { return one.pattern != "/api/device/erase"; });
  EXPECT_EQ(observed(server_.compute(), routes), documented("## The compute origin"));
}

// A person who is not active may use no route, and the answer gives the reason.
TEST_F(Roles, SomebodyWhoIsNotLetInMayDoNothing) {
  const auto asked = http_request(server_.console(), "POST", "/api/register", net::kJson,
                                  R"({"name":"grace","note":"of the Aoki Lab"})");
  ASSERT_EQ(asked.status, 202) << asked.body;
  const std::string token = json_at(asked.body, "token");
  const std::string person = "/api/researchers/" + json_at(asked.body, "researcher");
  const std::map<std::string, std::string> codes{{"", "approval_pending"},
                                                 {R"({"state":"refused"})", "approval_refused"},
                                                 {R"({"state":"suspended"})", "suspended"}};
  for (const auto& [change, code] : codes) {
    if (!change.empty()) {
      ASSERT_EQ(server_.rest_as(server_.secrets().admin_token, "POST", person, change).status, 200);
    }
    for (const http::Route& route : http::console_routes()) {
      if (route.access == http::Access::open) continue;
      const auto answer = server_.rest_as(token, method_of(route.method), target_of(route));
      EXPECT_EQ(answer.status, 403) << name_of(route);
      if (route.method == http::Method::head) continue;
      EXPECT_EQ(json_at(answer.body, "error.code"), code) << name_of(route);
    }
  }
}

}  // namespace
}  // namespace hyperflock::app
