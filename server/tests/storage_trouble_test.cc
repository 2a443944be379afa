// Tests a running server whose database fails: the server acknowledges nothing, reports the
// failure, and recovers by itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "storage/testing/faulty_storage.h"
#include "storage/testing/scratch_database.h"
#include "tests/support/test_uploads.h"

namespace hyperflock::app {
namespace {

using net::http_request;
using net::HttpAnswer;
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

// An administrator's own reading fills their turn, and a monitor with their token is answered.
TEST_F(StorageTroubleTest, MonitorsAreAnsweredWhileReadsHang) {
  const std::string token = server_->secrets().admin_token;
  net::TestSocket reading(server_->console());
  storage_->hold_reads();
  ASSERT_TRUE(reading.write("GET /api/audit HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
                            "\r\n\r\n"));
  ASSERT_TRUE(storage_->wait_until_reads_held(1));
  EXPECT_EQ(server_->rest_as(token, "GET", "/metrics").status, 200);
  for (const std::uint16_t port : {server_->console(), server_->compute()}) {
    EXPECT_EQ(http_request(port, "GET", "/healthz").status, 200);
    EXPECT_EQ(http_request(port, "GET", "/readyz").status, 200);
  }
  storage_->release_reads();
}

TEST(HungWriter, TheServerIsNotReadyUntilTheCommitEnds) {
  storage::ScratchDatabase database;
  auto faulty = std::make_unique<storage::FaultyStorage>(database.open());
  storage::FaultyStorage& storage = *faulty;
  const TestServer server([](ServeConfig& config) { config.hung_writer_ms = 0; },
                          std::move(faulty));
  const auto ready = [&](std::uint16_t port) {
    return status_and_code(http_request(port, "GET", "/readyz"));
  };
  server.submit(1);
  TestWorker worker(server, server.join());
  const auto lease = worker.ready();
  EXPECT_TRUE(until([&] { return ready(server.console()).starts_with("200"); }));
  storage.script({storage::Hold{}});
  worker.send(TestWorker::result(lease.attempt, 0.5));
  ASSERT_TRUE(storage.wait_until_held());
  EXPECT_EQ(ready(server.console()), "503 writer_hangs");
  EXPECT_EQ(ready(server.compute()), "503 writer_hangs");
  EXPECT_EQ(http_request(server.console(), "GET", "/healthz").status, 200);
  storage.release();
  EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
  EXPECT_TRUE(until([&] { return ready(server.console()).starts_with("200"); }));
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
  // This request changes the state, and the server does not read the state for it first.
  const auto refused = server_->rest_as(server_->secrets().admin_token, "POST", "/api/projects",
                                        R"({"project":"Birds"})");
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_EQ(ready_status(), 503);
  ASSERT_TRUE(becomes_ready());
  EXPECT_EQ(server_->rest("POST", "/api/studies", TestServer::spec(1, "k", sha256, 1)).status, 201);
}

TEST_F(StorageTroubleTest, AJoinThatIsNotWrittenIsRefused) {
  storage_->script({storage::FailBefore{}});
  const std::string body = join_body(*server_);
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
    const auto refused = server_->admin("GET", target);
    EXPECT_EQ(refused.status, 503) << target;
    EXPECT_EQ(code_of(refused), "storage_unavailable");
    EXPECT_EQ(refused.body.find(bundle), std::string::npos) << refused.body;
    ASSERT_TRUE(becomes_ready());
    EXPECT_EQ(server_->admin("GET", "/api/audit").body.find("study.read"), std::string::npos);
  }
  EXPECT_EQ(server_->admin("GET", study + "/spec").status, 200);
  EXPECT_NE(server_->admin("GET", "/api/audit").body.find("study.read"), std::string::npos);
}

// If there were a second transaction, it would fail here and lose the audit entry.
TEST_F(StorageTroubleTest, AChangeAndItsNoteAreOneTransaction) {
  const std::string study = "/api/studies/" + std::to_string(server_->submit(1));
  for (const std::string change : {"pause", "resume", "cancel"}) {
    storage_->script({storage::Pass{}, storage::FailBefore{}});
    EXPECT_EQ(server_->rest("POST", study + "/" + change).status, 200) << change;
    const std::string log = server_->admin("GET", "/api/audit").body;
    EXPECT_NE(log.find(R"("action":"study.)" + change), std::string::npos) << log;
    storage_->clear_script();
  }
  const TestDevice device = server_->join();
  storage_->script({storage::Pass{}, storage::FailBefore{}});
  EXPECT_EQ(server_->admin("POST", "/api/devices/" + device.id + "/erase").status, 200);
  EXPECT_NE(server_->admin("GET", "/api/audit").body.find("device.erase"), std::string::npos);
}

TEST_F(StorageTroubleTest, AnErasureThatTheServerDoesNotOutliveLeavesNoLease) {
  server_->submit(1);
  const TestDevice device = server_->join();
  TestWorker worker(*server_, device);
  worker.ready();
  // The erasure is written, but not the batch that ends the device's attempt.
  storage_->script({storage::Pass{}, storage::FailBefore{}});
  EXPECT_EQ(server_->admin("POST", "/api/devices/" + device.id + "/erase").status, 200);
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
  EXPECT_EQ(server_->admin("POST", "/api/devices/" + device.id + "/erase").status, 503);
  const auto next = worker.socket().receive();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->close_code(), 1013) << next->payload;
  ASSERT_TRUE(becomes_ready());
  EXPECT_EQ(server_->admin("POST", "/api/devices/" + device.id + "/erase").status, 200);
}

TEST_F(StorageTroubleTest, AConflictOnALeaseIsTriedAgain) {
  server_->submit(3);
  TestWorker worker(*server_, server_->join());
  storage_->script({storage::Conflict{{0}}});
  worker.send(protocol::Ready{});
  EXPECT_NE(to_int(worker.receive<protocol::LeaseOffer>().lease.attempt), 0);
}

// ---- a full disk: requests that need space are refused, and the operator can still make changes

constexpr std::uint64_t kMoreThanAnyDisk = std::uint64_t{1} << 40;

std::string path_of_study(std::int64_t study) { return "/api/studies/" + std::to_string(study); }

class FullDiskTest : public ::testing::Test {
 protected:
  FullDiskTest() {
    auto faulty = std::make_unique<storage::FaultyStorage>(database_.open());
    storage_ = faulty.get();
    server_ = std::make_unique<TestServer>(
        [this](ServeConfig& config) {
          log_ = config.state_dir + "/hyperflock.db-wal";
          std::filesystem::create_directories(config.state_dir);
          config.reserve_bytes = kMoreThanAnyDisk;
          set_log(kMoreThanAnyDisk);
        },
        std::move(faulty));
    bundle_ = server_->upload("a bundle");
  }

  // Sets the length of the database's log, which counts as a part of the reserve. If the log is as
  // long as the reserve, the server need not make the file of the reserve. If the log is empty,
  // there is no room for this file.
  void set_log(std::uint64_t bytes) const {
    std::ofstream(log_, std::ios::app).close();
    std::filesystem::resize_file(log_, bytes);
  }
  void make_room() {
    storage_->fill_disk(false);
    set_log(kMoreThanAnyDisk);
  }
  // Makes the disk full. The next commit notices it.
  void take_room() {
    storage_->fill_disk();
    set_log(0);
  }
  void fill() {
    take_room();
    EXPECT_EQ(submit("notices"), "503 storage_unavailable");
    EXPECT_EQ(ready(), "503 disk_full");
  }

  std::string submit(const std::string& key) {
    return status_and_code(
        server_->rest("POST", "/api/studies", TestServer::spec(1, key, bundle_, 8)));
  }
  std::string ready() const {
    return status_and_code(http_request(server_->console(), "GET", "/readyz"));
  }
  bool becomes_ready() const {
    return until([this] { return ready().starts_with("200"); });
  }

  storage::ScratchDatabase database_;
  storage::FaultyStorage* storage_ = nullptr;
  std::unique_ptr<TestServer> server_;
  std::string bundle_;
  std::string log_;
};

TEST_F(FullDiskTest, TheFirstCancellationThatMeetsAFullDiskIsWritten) {
  const std::int64_t study = server_->submit(1);
  set_log(0);
  storage_->script({storage::FullDisk{}});
  EXPECT_EQ(server_->rest("POST", path_of_study(study) + "/cancel").status, 200);
  EXPECT_TRUE(until([this] { return ready() == "503 disk_full"; }));
  EXPECT_EQ(json_at(server_->rest("GET", path_of_study(study)).body, "state"), "cancelled");
}

TEST_F(FullDiskTest, WhatEndsSomethingWorksAndWhatGrowsDoesNot) {
  const std::int64_t cancelled = server_->submit(1, "cancelled");
  const std::int64_t paused = server_->submit(1, "paused");
  const TestDevice revoked = server_->join();
  const TestDevice erased = server_->join();
  fill();

  EXPECT_EQ(server_->rest("GET", "/api/me").status, 200);
  EXPECT_EQ(server_->rest("GET", "/api/studies").status, 200);
  EXPECT_EQ(server_->rest("POST", path_of_study(paused) + "/pause").status, 200);
  EXPECT_EQ(json_at(server_->rest("GET", path_of_study(paused)).body, "paused"), "true");
  EXPECT_EQ(server_->rest("POST", path_of_study(paused) + "/resume").status, 200);
  EXPECT_EQ(server_->rest("POST", path_of_study(cancelled) + "/cancel").status, 200);
  EXPECT_EQ(server_->rest("DELETE", path_of_study(cancelled)).status, 200);
  EXPECT_EQ(server_->rest("GET", path_of_study(cancelled)).status, 404);
  EXPECT_EQ(status_and_code(server_->rest("POST", path_of_study(cancelled) + "/cancel")),
            "404 unknown_study");
  const HttpAnswer token = server_->admin("POST", "/api/tokens", R"({"researcher":1})");
  EXPECT_EQ(token.status, 201) << token.body;
  EXPECT_EQ(server_->admin("POST", "/api/tokens/" + json_at(token.body, "id") + "/revoke").status,
            200);
  EXPECT_EQ(server_->admin("POST", "/api/devices/" + revoked.id + "/revoke").status, 200);
  EXPECT_EQ(server_->admin("POST", "/api/devices/" + erased.id + "/erase").status, 200);
  EXPECT_EQ(server_->admin("POST", "/api/enrolment/1/revoke").status, 200);
  EXPECT_EQ(server_->admin("POST", "/api/researchers/2", R"({"state":"suspended"})").status, 200);
  EXPECT_EQ(server_->admin("POST", "/api/researchers/2", R"({"state":"active"})").status, 200);
  EXPECT_NE(server_->admin("GET", "/api/audit").body.find("study.cancel"), std::string::npos);

  EXPECT_EQ(submit("more"), "507 no_room");
  const std::string sha256 = blobs::sha256_hex("new");
  EXPECT_EQ(status_and_code(server_->rest("PUT", "/api/blobs/" + sha256, "new")), "507 no_room");
  EXPECT_EQ(status_and_code(server_->admin("POST", "/api/projects", R"({"project":"more"})")),
            "507 no_room");
  EXPECT_EQ(ready(), "503 disk_full");

  make_room();
  EXPECT_TRUE(becomes_ready());
  EXPECT_TRUE(submit("more").starts_with("201"));
}

// With each of these requests an administrator changes only a few rows, so none can use up the
// reserve.
TEST_F(FullDiskTest, AnAdministratorStopsMisuseAndLiftsStops) {
  const std::string bars = "/api/barred/" + std::string(64, 'a');
  EXPECT_EQ(server_->admin("POST", bars).status, 200);
  EXPECT_EQ(server_->admin("POST", "/api/ceilings", R"({"scope":"server","approval":true})").status,
            200);
  const std::int64_t approved = server_->submit(1, "approved");
  const std::string refused = path_of_study(server_->submit(1, "refused"));
  take_room();
  EXPECT_EQ(status_and_code(server_->admin("POST", "/api/projects", R"({"project":"more"})")),
            "503 storage_unavailable");
  EXPECT_EQ(ready(), "503 disk_full");

  const HttpAnswer no = server_->admin("POST", refused + "/refuse", R"({"reason":"not here"})");
  EXPECT_EQ(no.status, 200) << no.body;
  EXPECT_EQ(json_at(no.body, "state"), "cancelled");
  EXPECT_EQ(json_at(no.body, "held.reason"), "not here");
  EXPECT_EQ(server_->admin("POST", path_of_study(approved) + "/approve").status, 200);
  EXPECT_EQ(status_and_code(server_->admin("POST", path_of_study(approved) + "/approve")),
            "409 not_waiting");
  EXPECT_EQ(status_and_code(server_->admin("POST", "/api/studies/99/refuse")), "404 unknown_study");
  for (const char* ceiling : {R"({"scope":"server","devices":3,"approval":null})",
                              R"({"scope":"project","name":"First project","devices":2})"})
    EXPECT_EQ(server_->admin("POST", "/api/ceilings", ceiling).status, 200) << ceiling;
  EXPECT_EQ(server_->admin("POST", bars + "/lift").status, 200);
  EXPECT_EQ(server_->admin("POST", "/api/projects/1/freeze").status, 200);
  EXPECT_EQ(server_->admin("POST", "/api/projects/1/unfreeze").status, 200);
  EXPECT_EQ(ready(), "503 disk_full");
  const std::string audit = server_->admin("GET", "/api/audit").body;
  for (const char* action : {"study.refuse", "study.approve", "ceiling.set", "blob.lift"})
    EXPECT_NE(audit.find(action), std::string::npos) << action;

  make_room();
  ASSERT_TRUE(becomes_ready());
  EXPECT_EQ(json_at(server_->rest("GET", refused).body, "state"), "cancelled");
  EXPECT_EQ(json_at(server_->admin("GET", "/api/barred").body, "barred"), "[]");
  const auto ceilings = nlohmann::json::parse(server_->admin("GET", "/api/ceilings").body);
  EXPECT_EQ(ceilings.at("ceilings").at(0).at("devices"), 3);
  TestWorker worker(*server_, server_->join());
  EXPECT_EQ(to_int(worker.ready().study), approved);
}

TEST_F(FullDiskTest, AResultOfThatTimeIsNotLost) {
  const std::int64_t study = server_->submit(1);
  const TestDevice device = server_->join();
  TestWorker worker(*server_, device);
  const auto lease = worker.ready();
  take_room();
  worker.send(TestWorker::result(lease.attempt, 0.5));
  EXPECT_EQ(worker.socket().wait_close(), 1013);
  TestWorker early(*server_);
  early.send(TestWorker::hello(device, {lease.attempt}));
  EXPECT_EQ(early.socket().wait_close(), 1013);

  make_room();
  ASSERT_TRUE(becomes_ready());
  TestWorker again(*server_, device, {lease.attempt});
  again.send(TestWorker::result(lease.attempt, 0.5));
  EXPECT_EQ(again.receive<ResultAck>().verdict, Verdict::accepted);
  EXPECT_TRUE(server_->reaches(study, "finished"));
}

TEST_F(FullDiskTest, AStudyThatWasCancelledMeanwhileIsNotLeasedAfterwards) {
  const std::int64_t study = server_->submit(1);
  const TestDevice device = server_->join();
  fill();
  EXPECT_EQ(server_->rest("POST", path_of_study(study) + "/cancel").status, 200);
  make_room();
  ASSERT_TRUE(becomes_ready());
  TestWorker worker(*server_, device);
  worker.send(protocol::Ready{});
  worker.receive<protocol::Wait>();
}

TEST(FullDisk, AServerThatStartsWithoutRoomReadsDeletesAndSaysSo) {
  TestServer server;
  const std::int64_t study = server.submit(1);
  const TestDevice device = server.join();
  server.restart_with([](ServeConfig& config) { config.reserve_bytes = kMoreThanAnyDisk; });
  const auto ready = [&] {
    return status_and_code(http_request(server.console(), "GET", "/readyz"));
  };
  EXPECT_EQ(ready(), "503 disk_full");
  EXPECT_EQ(server.rest("GET", path_of_study(study)).status, 200);
  TestWorker early(server);
  early.send(TestWorker::hello(device));
  EXPECT_EQ(early.socket().wait_close(), 1013);
  EXPECT_EQ(server.rest("POST", path_of_study(study) + "/cancel").status, 200);
  EXPECT_EQ(server.rest("DELETE", path_of_study(study)).status, 200);
  EXPECT_EQ(ready(), "503 disk_full");

  server.restart_with([](ServeConfig& config) { config.reserve_bytes = 0; });
  EXPECT_TRUE(ready().starts_with("200"));
  EXPECT_EQ(server.rest("GET", path_of_study(study)).status, 404);
}

// ---- less than --min-free-bytes

class NearlyFullTest : public ::testing::Test {
 protected:
  void fill() {
    server_.restart_with([](ServeConfig& config) { config.min_free_bytes = kMoreThanAnyDisk; });
  }
  TestServer server_;
};

TEST_F(NearlyFullTest, NothingThatGrowsIsAccepted) {
  const std::int64_t study = server_.submit(2);
  const TestDevice device = server_.join();
  TestWorker(server_, device).ready();
  fill();
  const std::string sha256 = blobs::sha256_hex("new");
  EXPECT_EQ(status_and_code(server_.rest("PUT", "/api/blobs/" + sha256, "new")), "507 no_room");
  EXPECT_EQ(
      status_and_code(server_.rest("POST", "/api/studies", TestServer::spec(1, "more", sha256, 3))),
      "507 no_room");
  const std::string join = join_body(server_);
  EXPECT_EQ(status_and_code(http_request(server_.compute(), "POST", "/api/join", {}, join)),
            "507 no_room");
  EXPECT_EQ(status_and_code(http_request(server_.compute(), "POST", "/api/device-reports", {}, "")),
            "507 no_room");
  EXPECT_EQ(status_and_code(http_request(server_.console(), "POST", "/api/register", {}, "")),
            "507 no_room");
  for (const std::uint16_t port : {server_.compute(), server_.console()})
    EXPECT_EQ(status_and_code(http_request(port, "GET", "/readyz")), "503 no_room");
  EXPECT_EQ(http_request(server_.console(), "GET", "/healthz").status, 200);

  EXPECT_EQ(server_.rest("POST", path_of_study(study) + "/cancel").status, 200);
  EXPECT_EQ(server_.rest("DELETE", path_of_study(study)).status, 200);
}

TEST_F(NearlyFullTest, RunningTrialsEndButLeaveNoPointsAndNoFiles) {
  const std::int64_t study = server_.submit(2);
  const TestDevice device = server_.join();
  AttemptId attempt{};
  {
    TestWorker worker(server_, device);
    attempt = worker.ready().attempt;
  }
  fill();
  TestWorker worker(server_, device, {attempt});
  worker.send(protocol::Report{attempt, 1, {{1, 0.5}}});
  const auto error = worker.receive<protocol::ErrorMessage>();
  EXPECT_EQ(error.code, "no_room");
  EXPECT_EQ(error.attempt, attempt);
  EXPECT_EQ(worker.receive<protocol::Ack>().seq, 1);  // the device need not send it again
  const std::string path = "/api/attempts/" + std::to_string(to_int(attempt));
  const std::string bytes("PK\x03\x04", 4);
  EXPECT_EQ(status_and_code(ask(server_, device, "PUT",
                                path + "/checkpoints/" + blobs::sha256_hex(bytes) + "?format=tree",
                                bytes)),
            "507 no_room");
  EXPECT_EQ(status_and_code(ask(
                server_, device, "PUT",
                path + "/artifacts/" + blobs::sha256_hex(bytes) + "?id=a&name=n&type=t", bytes)),
            "507 artifact_no_room");
  EXPECT_TRUE(files_become(server_, 0));

  worker.send(TestWorker::result(attempt, 0.5, 2, true));
  EXPECT_EQ(worker.receive<ResultAck>().verdict, Verdict::accepted);
  EXPECT_EQ(worker.receive<protocol::Wait>().reason, protocol::WaitReason::read_only);
  const std::string row = server_.rest("GET", path_of_study(study) + "/trials/0").body;
  EXPECT_EQ(json_at(row, "points"), "[[0,0.25]]") << row;  // those of the result
}

TEST_F(NearlyFullTest, WorkGoesOnWhenThereIsRoomAgain) {
  server_.submit(2);
  const TestDevice device = server_.join();
  fill();
  {
    TestWorker worker(server_, device);
    worker.send(protocol::Ready{});
    EXPECT_EQ(worker.receive<protocol::Wait>().reason, protocol::WaitReason::read_only);
  }
  server_.restart_with([](ServeConfig& config) { config.min_free_bytes = 0; });
  EXPECT_NE(TestWorker(server_, device).ready().attempt, AttemptId{});
}

}  // namespace
}  // namespace hyperflock::app
