// Tests which requests count as those of another page.
#include "http/core/same_origin.h"

#include <gtest/gtest.h>

namespace hyperflock::http {
namespace {

std::string judged(const std::string& fetch_site, const std::string& origin,
                   std::string_view own_origin = "") {
  Request request;
  request.host = "flock.example.org:8790";
  request.fetch_site = fetch_site;
  request.origin = origin;
  const Status status = check_same_origin(request, own_origin);
  return status ? "own" : status.error().code;
}

TEST(SameOrigin, ProgramsSendNeitherHeader) { EXPECT_EQ(judged("", ""), "own"); }

TEST(SameOrigin, TheBrowsersWordCounts) {
  EXPECT_EQ(judged("same-origin", "https://flock.example.org:8790"), "own");
  EXPECT_EQ(judged("none", ""), "own");
  // A proxy may have changed the Host header.
  EXPECT_EQ(judged("same-origin", "https://other.example"), "own");
  for (const char* other : {"cross-site", "same-site", "SAME-ORIGIN", "nonsense"})
    EXPECT_EQ(judged(other, "http://flock.example.org:8790"), "cross_origin") << other;
}

TEST(SameOrigin, WithoutItTheOriginMustBeThisHost) {
  EXPECT_EQ(judged("", "http://flock.example.org:8790"), "own");
  EXPECT_EQ(judged("", "http://FLOCK.example.org:8790"), "own");
  for (const char* other :
       {"null", "http://flock.example.org", "http://flock.example.org:8780", "https://evil.example",
        "http://flock.example.org:8790.evil.example", "flock.example.org:8790"})
    EXPECT_EQ(judged("", other), "cross_origin") << other;
  EXPECT_EQ(judged("", "https://public.example", "https://public.example"), "own");
  EXPECT_EQ(judged("", "https://public.example.evil", "https://public.example"), "cross_origin");
}

TEST(SameOrigin, OnlyJsonIsJson) {
  const auto type = [](const std::string& text) {
    Request request;
    request.content_type = text;
    const Status status = check_json(request);
    return status ? "json" : status.error().code;
  };
  for (const char* json :
       {"application/json", "application/json; charset=utf-8", "Application/JSON ;charset=utf-8"})
    EXPECT_EQ(type(json), "json") << json;
  for (const char* other : {"", "text/plain", "application/x-www-form-urlencoded",
                            "text/plain; application/json", "application/jsonp", "*/*"})
    EXPECT_EQ(type(other), "not_json") << other;
}

TEST(SameOrigin, NamesOfThisMachine) {
  for (const char* local : {"localhost", "LOCALHOST:8790", "127.0.0.1", "127.0.0.1:8790", "[::1]",
                            "[::1]:8790", "127.1.2.3:1"})
    EXPECT_TRUE(names_loopback(local)) << local;
  for (const char* other : {"", "evil.example", "localhost.evil.example:8790", "192.168.0.1",
                            "[::2]", "[::1", "127.0.0.1.evil.example"})
    EXPECT_FALSE(names_loopback(other)) << other;
}

}  // namespace
}  // namespace hyperflock::http
