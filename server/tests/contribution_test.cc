// Tests against a whole server that a device reads what it has contributed, and nobody else does,
// and that a passphrase adds up what several devices contributed.
#include <gmock/gmock.h>

#include "base/testing/patience.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::http_request;
using protocol::ResultAck;

class ContributionTest : public testing::Test {
 protected:
  net::HttpAnswer read(const TestDevice& device) const {
    return http_request(server_.compute(), "GET", "/api/device/contribution",
                        {{"Authorization", "Device " + device.id + ":" + device.secret}});
  }
  net::HttpAnswer keep(const TestDevice& device, const std::string& key,
                       const std::string& is_new) const {
    return http_request(server_.compute(), "POST", "/api/device/passphrase",
                        {{"Authorization", "Device " + device.id + ":" + device.secret}},
                        R"({"key":")" + key + R"(","new":)" + is_new + "}");
  }
  net::HttpAnswer together(const std::string& key) const {
    return http_request(server_.compute(), "POST", "/api/passphrase", net::kJson,
                        R"({"key":")" + key + R"("})");
  }
  static void compute(TestWorker& worker, double value) {
    worker.send(TestWorker::result(worker.ready().attempt, value));
    EXPECT_EQ(worker.receive<ResultAck>().verdict, protocol::Verdict::accepted);
  }

  // Waits until the device has this many results. They are added up some time after they came.
  ::testing::AssertionResult gives(const TestDevice& device, const std::string& trials) const {
    if (until([&] { return json_at(read(device).body, "projects.0.all.trials") == trials; }))
      return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << read(device).body;
  }

  const std::string key_ = std::string(64, '7');
  TestServer server_{[](ServeConfig& config) { config.fold_ms = 1; }};
  std::int64_t study_ = server_.submit(4);
};

TEST_F(ContributionTest, ADeviceReadsItsOwn) {
  const TestDevice phone = server_.join();
  const TestDevice other = server_.join();
  EXPECT_EQ(json_at(read(phone).body, "projects"), "[]");
  TestWorker worker(server_, phone);
  compute(worker, 0.5);
  compute(worker, 0.6);
  ASSERT_TRUE(gives(phone, "2"));
  const auto answer = read(phone);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_at(answer.body, "projects.0.name"), "First project");
  for (const std::string span : {"week", "all"}) {
    EXPECT_EQ(json_at(answer.body, "projects.0." + span + ".trials"), "2");
    EXPECT_EQ(json_at(answer.body, "projects.0." + span + ".improved"), "1");
  }
  EXPECT_EQ(std::stoll(json_at(answer.body, "today_since")) % 86'400'000, 0);
  EXPECT_EQ(json_at(read(other).body, "projects"), "[]");
}

TEST_F(ContributionTest, ARestartLosesAndRepeatsNothing) {
  const TestDevice phone = server_.join();
  {
    TestWorker worker(server_, phone);
    compute(worker, 0.5);
    ASSERT_TRUE(gives(phone, "1"));
    compute(worker, 0.6);
  }
  server_.restart();
  ASSERT_TRUE(gives(phone, "2"));
  server_.restart();
  EXPECT_EQ(json_at(read(phone).body, "projects.0.all.trials"), "2");
}

TEST_F(ContributionTest, ARevokedDeviceStillReadsItsOwn) {
  const TestDevice phone = server_.join();
  {
    TestWorker worker(server_, phone);
    compute(worker, 0.5);
  }
  ASSERT_TRUE(gives(phone, "1"));
  ASSERT_EQ(server_.admin("POST", "/api/devices/" + phone.id + "/revoke").status, 200);
  EXPECT_EQ(json_at(read(phone).body, "projects.0.all.trials"), "1");
  // What the server does not trust any more is not shown as given.
  const std::string path = "/api/studies/" + std::to_string(study_) + "/reject";
  ASSERT_EQ(server_.rest("POST", path, R"({"device":")" + phone.id + R"("})").status, 200);
  EXPECT_EQ(json_at(read(phone).body, "projects"), "[]");
}

TEST_F(ContributionTest, R81_ADeviceWithTheWordsOfAnotherShowsWhatBothGave) {
  const TestDevice phone = server_.join();
  const TestDevice fresh = server_.join();
  for (const TestDevice& device : {phone, fresh}) {
    TestWorker worker(server_, device);
    compute(worker, 0.5);
  }
  ASSERT_TRUE(gives(phone, "1"));
  ASSERT_TRUE(gives(fresh, "1"));
  EXPECT_EQ(status_and_code(together(key_)), "404 unknown_passphrase");
  EXPECT_EQ(status_and_code(keep(fresh, key_, "false")), "404 unknown_passphrase");
  for (int again = 0; again < 2; ++again) EXPECT_EQ(keep(phone, key_, "true").status, 200);
  EXPECT_EQ(status_and_code(keep(fresh, key_, "true")), "409 passphrase_taken");
  EXPECT_EQ(json_at(together(key_).body, "projects.0.all.trials"), "1");
  for (int again = 0; again < 2; ++again) EXPECT_EQ(keep(fresh, key_, "false").status, 200);
  server_.restart();
  const auto both = together(key_);
  EXPECT_EQ(json_at(both.body, "devices"), "2");
  EXPECT_EQ(json_at(both.body, "projects.0.all.trials"), "2");
  EXPECT_EQ(json_at(read(phone).body, "projects.0.all.trials"), "1");
  // The log says that it happened, twice, and of whom not.
  const std::string audit = server_.admin("GET", "/api/audit").body;
  EXPECT_THAT(audit, testing::HasSubstr("device.passphrase"));
  EXPECT_THAT(audit, testing::Not(testing::HasSubstr(phone.id)));
  EXPECT_THAT(audit, testing::Not(testing::HasSubstr(key_)));
  // The words of an erased device are worth nothing.
  for (const TestDevice& device : {phone, fresh})
    ASSERT_EQ(server_.admin("POST", "/api/devices/" + device.id + "/erase").status, 200);
  EXPECT_EQ(status_and_code(together(key_)), "404 unknown_passphrase");
}

TEST_F(ContributionTest, R81_NobodyGuessesAPassphrase) {
  const TestDevice phone = server_.join();
  EXPECT_EQ(status_and_code(keep({phone.id, phone.secret + "x"}, key_, "true")),
            "401 unauthorized");
  for (const std::string bad : {"", "ABC", "horse"})
    EXPECT_EQ(status_and_code(together(bad)), "422 bad_field");
  std::string last;
  for (int i = 0; i < 100 && last != "429 rate_limited"; ++i)
    last = status_and_code(together(std::string(60, 'a') + std::to_string(1'000 + i)));
  EXPECT_EQ(last, "429 rate_limited");
  // The right one is no guess. So others behind the same address are not locked out.
  EXPECT_EQ(keep(phone, key_, "true").status, 200);
  EXPECT_EQ(together(key_).status, 200);
  last.clear();
  for (int i = 0; i < 100 && last != "429 rate_limited"; ++i)
    last = status_and_code(keep(phone, std::string(60, 'b') + std::to_string(1'000 + i), "true"));
  EXPECT_EQ(last, "429 rate_limited");
}

TEST_F(ContributionTest, AnErasedDeviceAndAWrongSecretReadNothing) {
  const TestDevice phone = server_.join();
  TestDevice thief = phone;
  thief.secret.back() = thief.secret.back() == 'A' ? 'B' : 'A';
  EXPECT_EQ(status_and_code(read(thief)), "401 unauthorized");
  ASSERT_EQ(server_.admin("POST", "/api/devices/" + phone.id + "/erase").status, 200);
  EXPECT_EQ(status_and_code(read(phone)), "401 unauthorized");
}

}  // namespace
}  // namespace hyperflock::app
