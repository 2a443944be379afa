// Tests a running server whose database fails: the server promises nothing, reports the failure,
// and recovers by itself.
#include <gtest/gtest.h>

#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "storage/testing/faulty_storage.h"
#include "storage/testing/scratch_database.h"
#include "tests/test_uploads.h"

namespace hyperflock::app {
namespace {

using net::http_request;
using protocol::ResultAck;
using protocol::Verdict;

class StorageTroubleTest : public ::testing::Test {
 protected:
  StorageTroubleTest() {
    auto faulty = std::make_unique<storage::FaultyStorage>(database_.open());
    storage_ = faulty.get();
    server_ = std::make_unique<TestServer>(nullptr, std::move(faulty));
  }

  int ready_status() const { return http_request(server_->console(), "GET", "/readyz").status; }

  bool becomes_ready() const {
    return until([this] { return ready_status() == 200; });
  }

  net::HttpAnswer admin(std::string_view method, const std::string& target) const {
    return server_->rest_as(server_->secrets().admin_token, method, target);
  }

  storage::ScratchDatabase database_;
  storage::FaultyStorage* storage_ = nullptr;
  std::unique_ptr<TestServer> server_;
};

TEST_F(StorageTroubleTest, R14_AResultIsNotAcknowledgedBeforeItsCommit) {
  server_->submit(1);
  TestWorker worker(*server_, server_->join());
  const auto lease = worker.ready();
  storage_->script({storage::Hold{}});
  worker.send(TestWorker::result(lease.attempt, 0.5));
  ASSERT_TRUE(storage_->wait_until_held());
  EXPECT_EQ(worker.socket().receive_text(200), "");
  storage_->release();
  EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
}

TEST_F(StorageTroubleTest, AFailedCommitClosesSessionsAndTheServerRecovers) {
  const std::int64_t study = server_->submit(1);
  const TestDevice device = server_->join();
  TestWorker worker(*server_, device);
  const auto lease = worker.ready();
  storage_->script({storage::FailBefore{}});
  worker.send(TestWorker::result(lease.attempt, 0.5));
  EXPECT_EQ(worker.socket().wait_close(), 1013);
  ASSERT_TRUE(becomes_ready());
  // The device reconnects with its attempt, and the result counts once.
  TestWorker again(*server_, device, {lease.attempt});
  again.send(TestWorker::result(lease.attempt, 0.5));
  EXPECT_EQ(again.receive<ResultAck>().verdict, Verdict::accepted);
  EXPECT_EQ(json_at(server_->rest("GET", "/api/studies/" + std::to_string(study)).body, "complete"),
            "1");
}

TEST_F(StorageTroubleTest, ALostAnswerIsNotALostResult) {
  const std::int64_t study = server_->submit(1);
  const TestDevice device = server_->join();
  TestWorker worker(*server_, device);
  const auto lease = worker.ready();
  storage_->script({storage::FailAfter{}});
  worker.send(TestWorker::result(lease.attempt, 0.5));
  EXPECT_EQ(worker.socket().wait_close(), 1013);
  ASSERT_TRUE(becomes_ready());
  TestWorker again(*server_, device, {lease.attempt});
  again.send(TestWorker::result(lease.attempt, 0.5));
  EXPECT_EQ(again.receive<ResultAck>().verdict, Verdict::accepted);
  EXPECT_TRUE(server_->reaches(study, "finished"));
  EXPECT_EQ(json_at(server_->rest("GET", "/api/studies/" + std::to_string(study)).body, "complete"),
            "1");
}

TEST_F(StorageTroubleTest, ReadOnlyWhileTheStateCannotBeReadAgain) {
  const std::string sha256 = server_->upload("b");
  storage_->script({storage::FailBefore{}});
  storage_->fail_reads(3);
  // A request that changes the state without reading it before.
  const auto refused = server_->rest_as(server_->secrets().admin_token, "POST", "/api/projects",
                                        R"({"project":"Birds"})");
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(ready_status(), 503);
  ASSERT_TRUE(becomes_ready());
  EXPECT_EQ(server_->rest("POST", "/api/studies", TestServer::spec(1, "k", sha256, 1)).status, 201);
}

TEST_F(StorageTroubleTest, AJoinThatIsNotWrittenIsRefused) {
  storage_->script({storage::FailBefore{}});
  const std::string body =
      R"({"code":")" + server_->secrets().enrolment_code + R"(","class":"phone","engine":"x"})";
  const auto refused = http_request(server_->compute(), "POST", "/api/join", {}, body);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(json_at(refused.body, "error.code"), "storage_unavailable");
  ASSERT_TRUE(becomes_ready());
  EXPECT_EQ(http_request(server_->compute(), "POST", "/api/join", {}, body).status, 201);
}

TEST_F(StorageTroubleTest, R54_AnArtifactThatIsNotWrittenIsRefused) {
  server_->submit(1);
  const TestDevice device = server_->join();
  TestWorker worker(*server_, device);
  const std::string target =
      path_of(worker.ready()) + "/artifacts/" + blobs::sha256_hex("bytes") + "?id=a&name=n&type=t";
  const auto upload = [&] { return ask(*server_, device, "PUT", target, "bytes"); };
  storage_->script({storage::FailBefore{}});
  storage_->fail_reads(1);
  EXPECT_EQ(code_of(upload()), "storage_unavailable");  // the server does not know the attempt yet
  const auto refused = upload();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(code_of(refused), "storage_unavailable");
  ASSERT_TRUE(becomes_ready());
  EXPECT_TRUE(files_become(*server_, 0));
  EXPECT_EQ(upload().status, 201);
}

TEST_F(StorageTroubleTest, WhatIsReadOfOthersIsShownOnlyOnceItIsNoted) {
  const std::string study = "/api/studies/" + std::to_string(server_->submit(1));
  const std::string bundle = json_at(server_->rest("GET", study + "/spec").body, "bundle.sha256");
  for (const std::string& target : {study + "/spec", study + "/blobs/" + bundle}) {
    storage_->script({storage::FailBefore{}});
    const auto refused = admin("GET", target);
    EXPECT_EQ(refused.status, 503) << target;
    EXPECT_EQ(code_of(refused), "storage_unavailable");
    EXPECT_EQ(refused.body.find(bundle), std::string::npos) << refused.body;
    ASSERT_TRUE(becomes_ready());
    EXPECT_EQ(admin("GET", "/api/audit").body.find("study.read"), std::string::npos);
  }
  EXPECT_EQ(admin("GET", study + "/spec").status, 200);
  EXPECT_NE(admin("GET", "/api/audit").body.find("study.read"), std::string::npos);
}

// If there were a second transaction, it would fail here and lose the audit entry.
TEST_F(StorageTroubleTest, AChangeAndItsNoteAreOneTransaction) {
  const std::string study = "/api/studies/" + std::to_string(server_->submit(1));
  for (const std::string change : {"pause", "resume", "cancel"}) {
    storage_->script({storage::Pass{}, storage::FailBefore{}});
    EXPECT_EQ(server_->rest("POST", study + "/" + change).status, 200) << change;
    const std::string log = admin("GET", "/api/audit").body;
    EXPECT_NE(log.find(R"("action":"study.)" + change), std::string::npos) << log;
    storage_->clear_script();
  }
  const TestDevice device = server_->join();
  storage_->script({storage::Pass{}, storage::FailBefore{}});
  EXPECT_EQ(admin("POST", "/api/devices/" + device.id + "/erase").status, 200);
  EXPECT_NE(admin("GET", "/api/audit").body.find("device.erase"), std::string::npos);
}

TEST_F(StorageTroubleTest, AnErasureThatTheServerDoesNotOutliveLeavesNoLease) {
  server_->submit(1);
  const TestDevice device = server_->join();
  TestWorker worker(*server_, device);
  worker.ready();
  // The erasure is written, but not the batch that ends the device's attempt.
  storage_->script({storage::Pass{}, storage::FailBefore{}});
  EXPECT_EQ(admin("POST", "/api/devices/" + device.id + "/erase").status, 200);
  server_.reset();
  const auto trials = database_.open()->load().value().studies.at(0).unfinished;
  EXPECT_EQ(trials.at(0).attempts.at(0).state, storage::AttemptState::revoked);
}

TEST_F(StorageTroubleTest, AnErasureThatIsNotWrittenPromisesTheDeviceNothing) {
  const TestDevice device = server_->join();
  TestWorker worker(*server_, device);
  worker.send(protocol::Ready{});
  worker.receive<protocol::Wait>();
  storage_->script({storage::FailBefore{}});
  EXPECT_EQ(admin("POST", "/api/devices/" + device.id + "/erase").status, 503);
  const auto next = worker.socket().receive();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->close_code(), 1013) << next->payload;
  ASSERT_TRUE(becomes_ready());
  EXPECT_EQ(admin("POST", "/api/devices/" + device.id + "/erase").status, 200);
}

TEST_F(StorageTroubleTest, AConflictOnALeaseIsTriedAgain) {
  server_->submit(3);
  TestWorker worker(*server_, server_->join());
  storage_->script({storage::Conflict{{0}}});
  worker.send(protocol::Ready{});
  EXPECT_NE(to_int(worker.receive<protocol::LeaseOffer>().lease.attempt), 0);
}

}  // namespace
}  // namespace hyperflock::app
