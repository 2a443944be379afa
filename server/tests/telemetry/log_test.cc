// Tests log lines and their texts, which never contain tokens.
#include "telemetry/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/request_context.h"
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

TEST(Log, ATextLineIsForPeople) {
  ::testing::internal::CaptureStderr();
  telemetry::start_logging(telemetry::LogLevel::info, telemetry::LogFormat::text);
  {
    const telemetry::RequestScope scope({.high = 1, .low = 2});
    telemetry::log(telemetry::LogLevel::warning, "odd",
                   {{"plain", "a/b:c"},
                    {"words", "a b"},
                    {"pair", "a=b"},
                    {"empty", ""},
                    {"lines", "a\nb=\x1b[1m"},
                    {"number", 3}});
  }
  telemetry::start_logging(telemetry::LogLevel::off);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, ::testing::MatchesRegex("20[0-9-]+ [0-9:.]+ warning odd .*"
                                            " request=00000000000000010000000000000002\n"));
  EXPECT_NE(
      text.find(R"(plain=a/b:c words="a b" pair="a=b" empty="" lines="a\nb=\u001b[1m" number=3)"),
      std::string::npos)
      << text;
}

// A test's standard error is no terminal.
TEST(Log, WithoutATerminalALineIsJson) {
  ::testing::internal::CaptureStderr();
  telemetry::start_logging(telemetry::LogLevel::info, telemetry::LogFormat::automatic);
  telemetry::log(telemetry::LogLevel::info, "odd");
  telemetry::start_logging(telemetry::LogLevel::off);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(json_at(text, "event"), "odd") << text;
}

// A reader of the log may be a terminal. What it would obey is escaped, and a line stays a line.
TEST(Log, EscapesWhatATerminalObeys) {
  std::string text;
  telemetry::append_log_text(
      text, "a\x1b[31mb\r\nc\x7f\xc2\x9b\xe2\x80\xae\xe2\x81\xa9\xd8\x9c\xe2\x80\xa8\xff");
  EXPECT_EQ(text, R"("a\u001b[31mb\r\nc\u007f\u009b\u202e\u2069\u061c\u2028)"
                  "\xEF\xBF\xBD\"");
  text.clear();
  telemetry::append_log_text(text, "plain é 世 – 😀 ‘q’ \xc2\xa0");
  EXPECT_EQ(text, "\"plain é 世 – 😀 ‘q’ \xc2\xa0\"");
}

}  // namespace
}  // namespace hyperflock::app
