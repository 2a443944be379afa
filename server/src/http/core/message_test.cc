// Tests headers of answers: those that isolate pages, and which input may appear in a policy.
#include "http/core/message.h"

#include <gtest/gtest.h>

#include <ctime>

namespace hyperflock::http {
namespace {

TEST(ResponseHead, CarriesIsolationAndPolicyEverywhere) {
  for (const Response& response :
       {json_response(200, "{}"), error_response(Error{"not_found", "Nothing."})}) {
    const std::string head = serialize_head(response, KeepAlive::yes);
    for (const char* line :
         {"Cross-Origin-Opener-Policy: same-origin\r\n",
          "Cross-Origin-Embedder-Policy: require-corp\r\n",
          "Cross-Origin-Resource-Policy: same-origin\r\n", "X-Content-Type-Options: nosniff\r\n",
          "Referrer-Policy: no-referrer\r\n",
          "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "
          "style-src 'self'; "
          "img-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
          "base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'\r\n"}) {
      EXPECT_NE(head.find(line), std::string::npos) << line << "in\n" << head;
    }
    EXPECT_NE(head.find("Permissions-Policy: screen-wake-lock=(self)"), std::string::npos);
  }
}

TEST(ResponseHead, NamesLengthAndConnection) {
  const std::string head = serialize_head(json_response(201, "12345"), KeepAlive::no);
  EXPECT_TRUE(head.starts_with("HTTP/1.1 201 Created\r\n")) << head;
  EXPECT_NE(head.find("Content-Length: 5\r\n"), std::string::npos);
  EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST(ResponseHead, TellsTheTime) {
  EXPECT_EQ(http_date(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");  // the example of RFC 9110
  EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  const std::int64_t before = std::time(nullptr);
  const std::string head = serialize_head(json_response(200, "{}"), KeepAlive::yes);
  const std::int64_t after = std::time(nullptr);
  bool told = false;
  for (std::int64_t now = before; now <= after; ++now) {
    told = told || head.find("\r\nDate: " + http_date(now) + "\r\n") != std::string::npos;
  }
  EXPECT_TRUE(told) << head;
}

TEST(Attachment, HasAPlainNameAndWhereThatIsAnotherTheRightOne) {
  EXPECT_EQ(attachment("audit.ndjson"), R"(attachment; filename="audit.ndjson")");
  EXPECT_EQ(attachment("my curve (2).png"), R"(attachment; filename="my curve (2).png")");
  EXPECT_EQ(attachment("a\"b\\c%41.html"),
            "attachment; filename=\"a_b_c_41.html\"; filename*=UTF-8''a%22b%5Cc%2541.html");
  EXPECT_EQ(attachment("\xE2\x82\xAC.txt"),  // RFC 8187's example of a euro sign
            "attachment; filename=\"_.txt\"; filename*=UTF-8''%E2%82%AC.txt");
}

TEST(ErrorResponse, StatusFollowsTheCode) {
  EXPECT_EQ(error_response(Error{"bad_field", "Wrong.", "space[0].name"}).status, 422);
  EXPECT_EQ(error_response(Error{"malformed", "No JSON."}).status, 400);
  EXPECT_EQ(error_response(Error{"storage_unavailable", "Later."}).status, 503);
  using Headers = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(error_response(Error{"storage_unavailable", "Later."}).headers.back(),
            Headers::value_type("Retry-After", "2"));
  EXPECT_EQ(error_response(Error{"rate_limited", "Later.", {}, 17}).headers.back(),
            Headers::value_type("Retry-After", "17"));
  const Response response = error_response(Error{"bad_field", "Say \"x\".", "a.b"});
  EXPECT_EQ(std::get<std::string>(response.body),
            R"({"error":{"code":"bad_field","message":"Say \"x\".","field":"a.b"}})");
}

TEST(PythonThreadPolicy, ReachesTheRuntimeAlone) {
  EXPECT_EQ(python_thread_policy("localhost:8780", false),
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src "
            "http://localhost:8780/runtime/; "
            "worker-src 'none'");
  EXPECT_NE(python_thread_policy("compute.example.org", true)
                .find("connect-src https://compute.example.org/runtime/;"),
            std::string::npos);
}

TEST(ValidHost, TakesNamesAddressesAndPorts) {
  for (const char* host : {"localhost", "localhost:8780", "127.0.0.1:1", "[::1]:8780", "[fe80::1]",
                           "a-b.example.org:443"}) {
    EXPECT_TRUE(valid_host(host)) << host;
  }
}

TEST(ValidHost, RefusesWhatCouldEndAPolicy) {
  for (const char* host : {"", "a b", "a;b", "a:", "a:b", "a:123456", "a,b", "*", "a/b", "[::1",
                           "[]", "[::1]x", "[a;b]", "'self'", "a\r\nb", "x:1:2", "é.example.org"}) {
    EXPECT_FALSE(valid_host(host)) << host;
  }
}

}  // namespace
}  // namespace hyperflock::http
