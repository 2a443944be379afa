// Tests in a running server that an administrator's change of a share counts at once (R70), and
// what a researcher reads about it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "blobs/sha256.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

class ShareOfResearcher : public ::testing::Test {
 protected:
  ShareOfResearcher() {
    const auto made = server_.admin("POST", "/api/researchers",
                                    R"({"name":"grace","projects":["First project"]})");
    grace_ = json_at(made.body, "token");
    ada_ = server_.secrets().researcher_token;
    submit(ada_, "a");
    submit(grace_, "b");
  }

  // Submits a study of more trials than any test computes.
  void submit(const std::string& token, const std::string& key) {
    const std::string bundle = "a bundle";
    const std::string sha256 = blobs::sha256_hex(bundle);
    server_.rest_as(token, "PUT", "/api/blobs/" + sha256, bundle);
    const auto answer = server_.rest_as(token, "POST", "/api/studies",
                                        TestServer::spec(500, key, sha256, bundle.size()));
    ASSERT_EQ(answer.status, 201) << answer.body;
  }

  // Computes so many trials, each on a device of its own, which has no files of any study. Returns
  // how many of them were of grace's study.
  int of_grace(int trials) const {
    int found = 0;
    for (int i = 0; i < trials; ++i) {
      TestWorker worker(server_, server_.join());
      const protocol::Lease lease = worker.ready();
      found += lease.study == StudyId{2} ? 1 : 0;
      worker.send(TestWorker::result(lease.attempt, 0.5));
      worker.receive<protocol::ResultAck>();
    }
    return found;
  }

  void weigh(const std::string& weight) const {
    const auto set = server_.admin(
        "POST", "/api/shares", R"({"scope":"researcher","name":"grace","weight":)" + weight + "}");
    ASSERT_EQ(set.status, 200) << set.body;
  }
  nlohmann::json placement(const std::string& token, int study) const {
    const std::string path = "/api/studies/" + std::to_string(study) + "/placement";
    return nlohmann::json::parse(server_.rest_as(token, "GET", path).body);
  }

  TestServer server_;
  std::string ada_;
  std::string grace_;
};

TEST_F(ShareOfResearcher, R70_AChangedWeightCountsAtOnceWithoutARestart) {
  EXPECT_NEAR(of_grace(20), 10, 1);
  weigh("300");
  EXPECT_NEAR(of_grace(40), 30, 2);
  weigh("null");
  EXPECT_NEAR(of_grace(20), 10, 2);
  // As long as the server runs, what was served counts; a restart forgets it, and keeps the weight.
  weigh("300");
  server_.restart();
  EXPECT_NEAR(of_grace(40), 30, 2);
}

TEST_F(ShareOfResearcher, R70_AResearcherReadsTheOwnShareAndWhyTheNextTrialWaits) {
  auto mine = placement(grace_, 2);
  EXPECT_EQ(mine.at("waits"), "no_device");
  EXPECT_EQ(mine.at("share"), nlohmann::json::parse(R"({"weight":100,"weights":200,
      "guaranteed":0,"devices":0,"ahead":1})"));
  TestWorker worker(server_, server_.join());
  const protocol::Lease lease = worker.ready();
  EXPECT_EQ(lease.study, StudyId{1});
  EXPECT_EQ(placement(grace_, 2).at("waits"), "busy");
  EXPECT_EQ(placement(ada_, 1).at("waits"), "others_first");
  EXPECT_EQ(placement(ada_, 1).at("share").at("devices"), 1);

  weigh("300");
  server_.admin("POST", "/api/shares", R"({"scope":"researcher","name":"grace","guaranteed":2})");
  mine = placement(grace_, 2);
  EXPECT_EQ(mine.at("share").at("weight"), 300);
  EXPECT_EQ(mine.at("share").at("weights"), 400);
  EXPECT_EQ(mine.at("share").at("guaranteed"), 2);
  EXPECT_EQ(placement(ada_, 1).at("share").at("weight"), 100);

  // Without a study, the list of projects has it.
  const auto projects = server_.rest_as(grace_, "GET", "/api/projects").body;
  EXPECT_EQ(json_at(projects, "projects.0.share.weight"), "300");
  EXPECT_EQ(json_at(projects, "projects.0.share.guaranteed"), "2");
  // Somebody else's share is not shown.
  EXPECT_EQ(status_and_code(server_.rest_as(grace_, "GET", "/api/studies/1/placement")),
            "404 unknown_study");
  EXPECT_EQ(status_and_code(server_.rest_as(grace_, "GET", "/api/shares")), "403 forbidden");

  server_.rest_as(grace_, "POST", "/api/studies/2/pause");
  EXPECT_EQ(placement(grace_, 2).at("waits"), "held");
  server_.rest_as(grace_, "POST", "/api/studies/2/cancel");
  EXPECT_EQ(placement(grace_, 2).at("waits"), "ended");
}

}  // namespace
}  // namespace hyperflock::app
