// Tests DELETE /api/studies/<id> with a whole server: what is removed, what stays, and who is
// informed (R55).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "storage/sqlite/open.h"
#include "storage/sqlite/storage.h"
#include "storage/testing/faulty_storage.h"
#include "tests/support/test_uploads.h"

namespace hyperflock::app {
namespace {

using net::HttpAnswer;

class DeletionTest : public ::testing::Test {
 protected:
  HttpAnswer get(std::int64_t study, const std::string& below = {}) const {
    return server_.rest("GET", path(study) + below);
  }
  HttpAnswer remove(std::int64_t study) const { return server_.rest("DELETE", path(study)); }
  void cancel(std::int64_t study) const {
    EXPECT_EQ(server_.rest("POST", path(study) + "/cancel").status, 200);
  }
  static std::string path(std::int64_t study) { return "/api/studies/" + std::to_string(study); }
  static std::string told(const HttpAnswer& answer) {
    return std::to_string(answer.status) + ' ' + code_of(answer);
  }
  std::string used_bytes() const {
    return json_at(server_.rest("GET", "/api/me").body, "used.bytes");
  }
  bool has_blob(const std::string& sha256) const {
    return server_.rest("HEAD", "/api/blobs/" + sha256).status == 200;
  }
  // Waits until a blob's file is gone. It is removed a moment after the commit that drops it.
  bool loses_blob(const std::string& sha256) const {
    return until([&] { return !has_blob(sha256); });
  }
  static HttpAnswer upload(const TestServer& server, const TestDevice& device,
                           const protocol::Lease& lease, const std::string& bytes) {
    return ask(server, device, "PUT",
               path_of(lease) + "/artifacts/" + blobs::sha256_hex(bytes) + "?id=" + bytes +
                   "&name=n&type=t",
               bytes);
  }

  TestServer server_;
};

TEST_F(DeletionTest, R55_AStudyThatIsOverGoesWithAllThatWasItsAlone) {
  const std::int64_t study = server_.submit(3);
  const std::string bundle = server_.upload("a bundle");
  const TestDevice device = server_.join();
  TestWorker worker(server_, device);
  auto lease = worker.ready();
  EXPECT_EQ(upload(server_, device, lease, "curve").status, 201);
  worker.send(TestWorker::result(lease.attempt, 0.5, 1, true));
  lease = *worker.receive<protocol::ResultAck>().lease;
  EXPECT_EQ(used_bytes(), "13");

  EXPECT_EQ(told(remove(study)), "409 study_running");
  server_.rest("POST", path(study) + "/pause");
  EXPECT_EQ(told(remove(study)), "409 study_running");
  cancel(study);
  EXPECT_EQ(worker.receive<protocol::Revoke>().attempt, lease.attempt);

  const HttpAnswer gone = remove(study);
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.body,
            R"({"study":)" + std::to_string(study) + R"(,"trials":1,"artifacts":1,"bytes":13})");
  EXPECT_EQ(used_bytes(), "0");
  EXPECT_EQ(json_at(server_.rest("GET", "/api/studies").body, "studies"), "[]");
  for (const char* below : {"", "/spec", "/trials", "/unfinished", "/trials/0", "/trials/0/log",
                            "/artifacts", "/artifacts/curve", "/placement"})
    EXPECT_EQ(told(get(study, below)), "404 unknown_study") << below;
  for (const char* below : {"/cancel", "/pause", "/resume", "/replay"})
    EXPECT_EQ(told(server_.rest("POST", path(study) + below)), "404 unknown_study") << below;
  EXPECT_EQ(told(remove(study)), "404 unknown_study");
  EXPECT_TRUE(files_become(server_, 0));
  EXPECT_TRUE(loses_blob(bundle));
  EXPECT_EQ(code_of(ask(server_, device, "GET", "/api/blobs/" + bundle)), "unknown_blob");

  const std::int64_t again = server_.submit(3);  // with the same key
  EXPECT_EQ(again, study + 1);
  EXPECT_TRUE(has_blob(bundle));
}

TEST_F(DeletionTest, R55_DevicesHearOfItsAttemptsAsOfUnknownOnes) {
  const std::int64_t study = server_.submit(2);
  const TestDevice device = server_.join();
  TestWorker worker(server_, device);
  const auto lease = worker.ready();
  cancel(study);
  worker.receive<protocol::Revoke>();
  ASSERT_EQ(remove(study).status, 200);

  EXPECT_EQ(told(upload(server_, device, lease, "late")), "404 unknown_attempt");
  EXPECT_EQ(told(ask(server_, device, "GET", path_of(lease) + "/checkpoint")), "404 unknown_blob");
  worker.send(protocol::Report{lease.attempt, 1, {{1, 0.5}}});
  EXPECT_EQ(worker.receive<protocol::ErrorMessage>().code, "unknown_attempt");
  worker.send(protocol::Release{lease.attempt, 2, protocol::ReleaseReason::stopped});
  EXPECT_EQ(worker.receive<protocol::ErrorMessage>().code, "unknown_attempt");
  worker.send(TestWorker::result(lease.attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ErrorMessage>().code, "unknown_attempt");
  worker.send(TestWorker::failure(lease.attempt));
  EXPECT_EQ(worker.receive<protocol::ErrorMessage>().code, "unknown_attempt");
  EXPECT_EQ(told(get(study)), "404 unknown_study");
  const std::int64_t next = server_.submit(1, "another");
  EXPECT_EQ(worker.await_lease().study, StudyId{next});
}

TEST_F(DeletionTest, R55_OwnersAndWatchersHearThatItIsUnknown) {
  const std::int64_t study = server_.submit_asked();
  TestOwner owner(server_, study);
  owner.receive();
  cancel(study);
  EXPECT_EQ(json_at(owner.socket().receive_text(), "code"), "study_cancelled");
  const auto watch = [&](net::TestWebSocket& socket) {
    socket.send(protocol::serialize(protocol::ClientMessage(protocol::Watch{StudyId{study}, 0})));
    return socket.receive_text();
  };
  EXPECT_EQ(json_at(watch(owner.socket()), "type"), "update");
  ASSERT_EQ(remove(study).status, 200);
  const std::string heard = owner.socket().receive_text();
  EXPECT_EQ(json_at(heard, "type"), "error");
  EXPECT_EQ(json_at(heard, "code"), "unknown_study");
  TestOwner late(server_, study);
  EXPECT_EQ(json_at(late.socket().receive_text(), "code"), "unknown_study");
}

TEST_F(DeletionTest, R55_WhoMayNotCancelItMayNotDeleteIt) {
  const std::int64_t study = server_.submit(1);
  cancel(study);
  const std::string& admin = server_.secrets().admin_token;
  const auto made = server_.rest_as(admin, "POST", "/api/researchers", R"({"name":"grace"})");
  EXPECT_EQ(told(server_.rest_as(json_at(made.body, "token"), "DELETE", path(study))),
            "404 unknown_study");
  EXPECT_EQ(get(study).status, 200);
  EXPECT_EQ(server_.rest_as(admin, "DELETE", path(study)).status, 200);
  EXPECT_EQ(told(server_.rest_as(admin, "DELETE", path(study))), "404 unknown_study");

  const std::string log = server_.rest_as(admin, "GET", "/api/audit?after=3").body;
  EXPECT_EQ(json_at(log, "entries.0.action"), "study.delete");
  EXPECT_EQ(json_at(log, "entries.0.actor"), "admin");
  EXPECT_EQ(json_at(log, "entries.0.object"), std::to_string(study));
  EXPECT_EQ(json_at(log, "entries.0.detail.owner"), "researcher");
  EXPECT_EQ(json_at(log, "entries.0.detail.name"), "grid");
  EXPECT_TRUE(json_at(log, "entries.1").starts_with("nothing at"));
}

TEST_F(DeletionTest, R55_ABlobThatAnotherStudyNamesStays) {
  const std::int64_t first = server_.submit(1, "first");
  server_.submit(1, "second");
  cancel(first);
  EXPECT_EQ(json_at(remove(first).body, "bytes"), "0");
  EXPECT_EQ(used_bytes(), "8");
  server_.restart();
  EXPECT_TRUE(has_blob(blobs::sha256_hex("a bundle")));
}

// If a server is killed between two pieces of a deletion, the next server removes the
// rest.
TEST_F(DeletionTest, R55_PiecesThatAreLeftGoAfterAStart) {
  const std::int64_t study = server_.submit(1);
  const TestDevice device = server_.join();
  {
    TestWorker worker(server_, device);
    const auto lease = worker.ready();
    EXPECT_EQ(upload(server_, device, lease, "curve").status, 201);
    worker.send(TestWorker::result(lease.attempt, 0.5));
    worker.receive<protocol::ResultAck>();
  }
  ASSERT_TRUE(server_.reaches(study, "finished"));
  EXPECT_EQ(files_in(server_), 1U);
  server_.restart([&] {
    const auto storage = storage::open_sqlite_storage(server_.file("state/hyperflock.db"),
                                                      [] { return std::int64_t{1}; });
    ASSERT_TRUE(storage.has_value()) << storage.error().message;
    const std::vector<storage::Transition> gone{storage::DeleteStudy{StudyId{study}}};
    EXPECT_EQ((*storage)->apply(gone).value().at(0).applied, storage::Applied::applied);
    EXPECT_TRUE((*storage)->load().value().unswept);
  });
  EXPECT_TRUE(files_become(server_, 0));
  EXPECT_EQ(server_.submit(1), study + 1);
  server_.restart([&] {
    const auto storage = storage::open_sqlite_storage(server_.file("state/hyperflock.db"),
                                                      [] { return std::int64_t{1}; });
    EXPECT_FALSE((*storage)->load().value().unswept);
  });
}

// If a piece cannot be written, the sweep goes on as soon as the server can write again.
TEST(DeletionTrouble, R55_PiecesGoOnOnceTheServerCanWriteAgain) {
  const ScratchFolder folder;
  auto faulty = std::make_unique<storage::FaultyStorage>(
      storage::open_sqlite_storage(folder.file("db"), [] { return std::int64_t{1}; }).value());
  storage::FaultyStorage& storage = *faulty;
  TestServer server({}, std::move(faulty));
  const std::int64_t study = server.submit(1);
  const TestDevice device = server.join();
  {
    TestWorker worker(server, device);
    const auto lease = worker.ready();
    EXPECT_EQ(
        ask(server, device, "PUT",
            path_of(lease) + "/artifacts/" + blobs::sha256_hex("x") + "?id=i&name=n&type=t", "x")
            .status,
        201);
    worker.send(TestWorker::result(lease.attempt, 0.5));
    worker.receive<protocol::ResultAck>();
  }
  ASSERT_TRUE(server.reaches(study, "finished"));
  storage.script({storage::Pass{}, storage::FailBefore{}});
  EXPECT_EQ(server.rest("DELETE", "/api/studies/" + std::to_string(study)).status, 200);
  EXPECT_TRUE(files_become(server, 0));
  EXPECT_EQ(server.metric("hyperflock_commit_failures_total{cause=\"storage_unavailable\"}"), 1);
}

// The rows of a large study need several pieces. They are removed before the next study's files.
TEST_F(DeletionTest, R55_OnePieceFollowsAnother) {
  const std::int64_t large = server_.submit(3, "large");
  const std::int64_t small = server_.submit(1, "small");
  server_.restart([&] {
    const auto storage = storage::open_sqlite_storage(server_.file("state/hyperflock.db"),
                                                      [] { return std::int64_t{1}; });
    std::vector<storage::Transition> batch;
    for (std::int64_t i = 1; i <= 3; ++i) {
      storage::StartAttempt start;
      start.attempt = AttemptId{i};
      start.trial = {StudyId{large}, TrialNumber{i - 1}};
      start.device = "d";
      storage::AppendPoints curve{AttemptId{i}, "d", {}};
      for (std::int64_t step = 0; step < storage::kSweptRows; ++step)
        curve.points.push_back({step, 0.5});
      batch.emplace_back(start);
      batch.emplace_back(curve);
    }
    ASSERT_TRUE((*storage)->apply(batch).has_value());
  });
  cancel(large);
  const TestDevice device = server_.join();
  TestWorker worker(server_, device);
  const auto lease = worker.ready();
  ASSERT_EQ(lease.study, StudyId{small});
  EXPECT_EQ(upload(server_, device, lease, "curve").status, 201);
  worker.send(TestWorker::result(lease.attempt, 0.5));
  worker.receive<protocol::ResultAck>();
  ASSERT_TRUE(server_.reaches(small, "finished"));
  EXPECT_EQ(remove(large).status, 200);
  EXPECT_EQ(remove(small).status, 200);
  EXPECT_TRUE(files_become(server_, 0));
}

}  // namespace
}  // namespace hyperflock::app
