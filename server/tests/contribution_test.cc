// Tests GET /api/device/contribution against a whole server: a device reads what it has
// contributed, and nobody else does.
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
