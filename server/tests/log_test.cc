// Tests log lines and their texts, which never contain tokens.
#include "telemetry/log.h"

#include <gtest/gtest.h>

#include "telemetry/utf8.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

TEST(ValidUtf8, ReplacesWhatIsInvalidAndNothingElse) {
  EXPECT_EQ(telemetry::valid_utf8("plain é 世 😀 \x01"), "plain é 世 😀 \x01");
  EXPECT_EQ(telemetry::valid_utf8("\xff\xc0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(telemetry::valid_utf8("\xed\xa0\x80").size(), 9U);  // a surrogate: three bad bytes
  EXPECT_EQ(telemetry::valid_utf8("cut \xe4\xb8"), "cut \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Log, OneJsonObjectALineAndNoSecrets) {
  ::testing::internal::CaptureStderr();
  telemetry::start_logging(telemetry::LogLevel::debug);
  std::string secrets;
  {
    TestServer server;
    const TestDevice device = server.join();
    secrets = server.secrets().admin_token + "\n" + server.secrets().enrolment_code + "\n" +
              device.secret;
    TestWorker worker(server, device);
    server.rest("GET", "/api/me");
    server.rest("POST", "/api/enrolment");
  }
  telemetry::log(telemetry::LogLevel::warning, "odd",
                 {{"text", "a\"b\xff"}, {"number", 3}, {"share", 0.5}, {"yes", true}});
  telemetry::start_logging(telemetry::LogLevel::off);
  const std::string text = ::testing::internal::GetCapturedStderr();
  std::size_t from = 0;
  int lines = 0;
  for (std::size_t end = 0; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    const std::string line = text.substr(from, end - from);
    EXPECT_FALSE(json_at(line, "event").starts_with("nothing")) << line;
    EXPECT_FALSE(json_at(line, "time").starts_with("nothing")) << line;
    ++lines;
  }
  EXPECT_GE(lines, 4);
  EXPECT_NE(text.find(R"("event":"odd","text":"a\"b�","number":3,"share":0.5,"yes":true)"),
            std::string::npos)
      << text;
  std::size_t start = 0;
  for (std::size_t end = 0; start < secrets.size(); start = end + 1) {
    end = std::min(secrets.find('\n', start), secrets.size());
    EXPECT_EQ(text.find(secrets.substr(start, end - start)), std::string::npos);
  }
}

}  // namespace
}  // namespace hyperflock::app
