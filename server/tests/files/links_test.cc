// Tests signed addresses of data: who gets one, what it opens, what forges none, and what caches
// and pages of another origin are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "auth/blob_links.h"
#include "auth/identity_cache.h"
#include "blobs/sha256.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::http_request;
using net::HttpAnswer;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr std::int64_t kDayMs = 86'400'000;
const std::string kBundle = "a bundle";

// Returns a header of an answer; empty without it.
std::string header(const HttpAnswer& answer, const std::string& name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? std::string() : found->second;
}

class Links : public ::testing::Test {
 protected:
  // Submits a study whose code is kBundle, and returns the hash of that.
  std::string submit(const std::string& token, const std::string& key,
                     const std::string& project = {}) {
    const std::string sha256 = blobs::sha256_hex(kBundle);
    server_.rest_as(token, "PUT", "/api/blobs/" + sha256, kBundle);
    std::string spec = TestServer::spec(1, key, sha256, kBundle.size());
    if (!project.empty()) spec.insert(1, R"("project":")" + project + R"(",)");
    const auto answer = server_.rest_as(token, "POST", "/api/studies", spec);
    EXPECT_EQ(answer.status, 201) << answer.body;
    study_ = json_at(answer.body, "study");
    return sha256;
  }
  std::string submit() { return submit(server_.secrets().researcher_token, "key"); }

  HttpAnswer ask(const TestDevice& device, const std::string& sha256) const {
    return http_request(server_.compute(), "GET", "/api/blobs/" + sha256 + "/link",
                        {{"Authorization", "Device " + device.id + ":" + device.secret}});
  }
  HttpAnswer get(const std::string& path, const net::Headers& headers = {}) const {
    return http_request(server_.compute(), "GET", path, headers);
  }
  // Returns a link as this server would have signed it at another time, or for another project.
  std::string sign(std::int64_t project, const std::string& sha256, std::int64_t days) const {
    const std::filesystem::path state(server_.config().state_dir);
    return auth::BlobLinks::open(state / "blobs")
        ->sign(project, sha256, auth::IdentityCache::system_clock()() + days * kDayMs)
        .path;
  }
  // Makes a project with a researcher and returns the researcher's token.
  std::string tenant(const std::string& project, const std::string& person) {
    server_.admin("POST", "/api/projects", R"({"project":")" + project + "\"}");
    const auto made =
        server_.admin("POST", "/api/researchers",
                      R"({"name":")" + person + R"(","projects":[")" + project + "\"]}");
    EXPECT_EQ(made.status, 201) << made.body;
    return json_at(made.body, "token");
  }
  TestDevice join(const std::string& token) {
    const std::string code =
        json_at(server_.rest_as(token, "POST", "/api/enrolment", "{}").body, "code");
    const auto joined = http_request(server_.compute(), "POST", "/api/join", net::kJson,
                                     R"({"code":")" + code + R"(","class":"phone","engine":"x"})");
    return {json_at(joined.body, "device"), json_at(joined.body, "secret")};
  }

  TestServer server_;
  std::string study_;
};

TEST_F(Links, OpenTheirBlobToAnybodyAndToCaches) {
  const std::string sha256 = submit();
  const TestDevice device = server_.join();
  const auto given = ask(device, sha256);
  ASSERT_EQ(given.status, 200) << given.body;
  const std::string url = json_at(given.body, "url");
  EXPECT_EQ(url, sign(1, sha256, 0));
  EXPECT_EQ(json_at(ask(server_.join(), sha256).body, "url"), url);  // one address for all
  EXPECT_EQ(header(given, "cache-control"), "no-store");

  const auto answer = get(url);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, kBundle);
  EXPECT_EQ(header(answer, "etag"), '"' + sha256 + '"');
  EXPECT_EQ(header(answer, "access-control-allow-origin"), "");
  EXPECT_THAT(header(answer, "cache-control"), MatchesRegex("public, max-age=[0-9]+, immutable"));
  const std::int64_t max_age = std::stoll(header(answer, "cache-control").substr(16));
  EXPECT_GE(max_age, kDayMs / 1'000 - 600);
  EXPECT_LE(max_age, 2 * kDayMs / 1'000);

  const auto head = http_request(server_.compute(), "HEAD", url);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(header(head, "content-length"), std::to_string(kBundle.size()));
  EXPECT_EQ(head.body, "");
  const auto same = get(url, {{"If-None-Match", '"' + sha256 + '"'}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  EXPECT_EQ(header(same, "etag"), '"' + sha256 + '"');
  EXPECT_THAT(header(same, "cache-control"), HasSubstr("public"));
}

TEST_F(Links, ThatTheServerDidNotSignOpenNothing) {
  const std::string sha256 = submit();
  const std::string url = sign(1, sha256, 0);
  const std::string other = blobs::sha256_hex("other");
  std::string forged = url;
  forged[forged.size() - 66] = forged[forged.size() - 66] == '0' ? '1' : '0';
  std::string project = url;
  project.replace(project.find("/1/"), 3, "/2/");
  std::string until = url;
  ++until[9];
  std::string blob = url.substr(0, url.size() - 64) + other;
  for (const std::string& wrong : {forged, project, until, blob, url + "?again=1",
                                   "/blobs/1/9/" + std::string(64, 'z') + "/" + sha256}) {
    const auto answer = get(wrong);
    EXPECT_EQ(status_and_code(answer), "403 bad_link") << wrong;
    EXPECT_EQ(header(answer, "cache-control"), "no-store");
  }
  EXPECT_EQ(get(url + "/").status, 404);
  EXPECT_EQ(get(url.substr(0, url.size() - 1)).status, 403);
  // A network that goes on guessing is refused, and signed addresses still work there.
  std::string code;
  for (int i = 0; i < 40 && code != "rate_limited"; ++i) code = code_of(get(forged));
  EXPECT_EQ(code, "rate_limited");
  EXPECT_EQ(get(url).body, kBundle);
}

TEST_F(Links, EndAtTheirTime) {
  const std::string sha256 = submit();
  const auto answer = get(sign(1, sha256, -2));
  EXPECT_EQ(status_and_code(answer), "410 link_expired");
  EXPECT_EQ(header(answer, "cache-control"), "no-store");
  EXPECT_EQ(get(sign(1, sha256, -1)).status, 200);
}

TEST_F(Links, BelongToTheProjectThatNamesTheBlob) {
  const std::string other_token = tenant("Second project", "grace");
  const std::string sha256 = submit(other_token, "key", "Second project");
  EXPECT_EQ(status_and_code(ask(server_.join(), sha256)), "404 unknown_blob");
  EXPECT_EQ(status_and_code(get(sign(1, sha256, 0))), "404 unknown_blob");
  EXPECT_EQ(status_and_code(get(sign(99, sha256, 0))), "404 unknown_blob");
  const auto given = ask(join(other_token), sha256);
  EXPECT_EQ(json_at(given.body, "url"), sign(2, sha256, 0));
  EXPECT_EQ(get(sign(2, sha256, 0)).body, kBundle);
  // A project that lends its idle devices gets the address of the project that borrows them.
  server_.admin("POST", "/api/shares",
                R"({"scope":"project","name":"First project","lends":["Second project"]})");
  EXPECT_EQ(json_at(ask(server_.join(), sha256).body, "url"), sign(2, sha256, 0));
}

TEST_F(Links, EndWithTheirStudyAndByABar) {
  const std::string sha256 = submit();
  const std::string url = sign(1, sha256, 0);
  const TestDevice device = server_.join();
  server_.admin("POST", "/api/barred/" + sha256, "{}");
  EXPECT_EQ(status_and_code(get(url)), "404 unknown_blob");
  EXPECT_EQ(status_and_code(ask(device, sha256)), "404 unknown_blob");
  server_.admin("POST", "/api/barred/" + sha256 + "/lift", "{}");
  EXPECT_EQ(get(url).status, 200);
  server_.rest("POST", "/api/studies/" + study_ + "/cancel");
  ASSERT_EQ(server_.rest("DELETE", "/api/studies/" + study_).status, 200);
  EXPECT_EQ(status_and_code(get(url)), "404 unknown_blob");
}

TEST_F(Links, StayTheSameOverARestart) {
  const std::string sha256 = submit();
  const std::string url = json_at(ask(server_.join(), sha256).body, "url");
  server_.restart();
  EXPECT_EQ(get(url).body, kBundle);
}

TEST_F(Links, OfADataOriginAreAllowedThereAndNowhereElse) {
  const std::string sha256 = submit();
  const TestDevice device = server_.join();
  const std::filesystem::path app = server_.file("pages");
  std::filesystem::create_directories(app / "app");
  for (const char* name : {"agent-thread-1.js", "python-thread-1.js", "join-1.js"})
    std::ofstream(app / "app" / name) << "1;";
  server_.restart_with([&](ServeConfig& config) {
    config.app_dir = app.string();
    config.data_url = "https://cdn.example";
  });
  const std::string url = json_at(ask(device, sha256).body, "url");
  ASSERT_EQ(url, "https://cdn.example" + sign(1, sha256, 0));
  EXPECT_EQ(header(get(url.substr(19)), "access-control-allow-origin"),
            server_.server().compute_origin());
  EXPECT_THAT(header(get("/app/agent-thread-1.js"), "content-security-policy"),
              HasSubstr("connect-src 'self' https://cdn.example;"));
  for (const char* other : {"/app/python-thread-1.js", "/app/join-1.js", "/healthz"})
    EXPECT_THAT(header(get(other), "content-security-policy"), Not(HasSubstr("cdn.example")));
  server_.restart_with([](ServeConfig& config) { config.data_url.clear(); });
  EXPECT_THAT(header(get("/app/agent-thread-1.js"), "content-security-policy"),
              HasSubstr("connect-src 'self';"));
}

}  // namespace
}  // namespace hyperflock::app
