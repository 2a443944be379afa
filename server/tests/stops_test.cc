// Tests what administrators stop, limit and approve in a running server (R67, R68), and who may
// name which blob (R69).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "blobs/sha256.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::HttpAnswer;

class Stops : public ::testing::Test {
 protected:
  nlohmann::json row(std::int64_t study) const {
    return nlohmann::json::parse(
        server_.admin("GET", "/api/studies/" + std::to_string(study)).body);
  }
  HttpAnswer submit(const std::string& key, const std::string& limits = {}) const {
    const std::string bundle = "a bundle";
    auto spec =
        nlohmann::json::parse(TestServer::spec(2, key, server_.upload(bundle), bundle.size()));
    if (!limits.empty()) spec["limits"] = nlohmann::json::parse(limits);
    return server_.rest("POST", "/api/studies", spec.dump());
  }

  TestServer server_;
};

TEST_F(Stops, AFreezeEndsWhatRunsAndLastsOverARestart) {
  const std::int64_t study = server_.submit(2);
  const TestDevice device = server_.join();
  {
    TestWorker worker(server_, device);
    const auto lease = worker.ready();
    EXPECT_EQ(server_.admin("POST", "/api/projects/1/freeze", R"({"reason":"too hot"})").status,
              200);
    const auto revoke = worker.receive<protocol::Revoke>();
    EXPECT_EQ(revoke.attempt, lease.attempt);
    EXPECT_EQ(revoke.code, protocol::RevokeCode::operator_stopped);
    worker.send(protocol::Ready{});
    EXPECT_EQ(worker.receive<protocol::Wait>().reason, protocol::WaitReason::no_work);
  }
  EXPECT_EQ(row(study).at("held").at("code"), "project_frozen");
  EXPECT_EQ(row(study).at("held").at("reason"), "too hot");
  EXPECT_EQ(row(study).at("estimate").at("why"), "held");
  const auto refused = submit("other");
  EXPECT_EQ(status_and_code(refused), "403 project_frozen");
  EXPECT_THAT(refused.body, ::testing::HasSubstr("too hot"));
  const std::string path = "/api/studies/" + std::to_string(study);
  EXPECT_EQ(status_and_code(server_.rest("POST", path + "/replay")), "403 project_frozen");
  EXPECT_EQ(status_and_code(server_.rest("POST", path + "/extend",
                                         R"({"space":[{"name":"x","values":[0,1,2]}]})")),
            "403 project_frozen");
  EXPECT_EQ(server_.rest("POST", path + "/resume").status, 200);  // which lifts no freeze
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/projects/1/unfreeze")), "403 forbidden");

  server_.restart();
  TestWorker worker(server_, device);
  worker.send(protocol::Ready{});
  EXPECT_EQ(worker.receive<protocol::Wait>().reason, protocol::WaitReason::no_work);
  EXPECT_EQ(row(study).at("held").at("code"), "project_frozen");
  EXPECT_EQ(server_.admin("POST", "/api/projects/1/unfreeze").status, 200);
  EXPECT_EQ(worker.receive<protocol::LeaseOffer>().lease.trial, TrialNumber{0});
  EXPECT_FALSE(row(study).contains("held"));
  EXPECT_EQ(submit("other").status, 201);
}

TEST_F(Stops, SuspendingAResearcherEndsWhatRunsOfTheirs) {
  const std::int64_t study = server_.submit(1);
  TestWorker worker(server_, server_.join());
  worker.ready();
  const std::string owner = "/api/researchers/2";
  const auto suspended =
      server_.admin("POST", owner, R"({"state":"suspended","reason":"mines coins"})");
  EXPECT_EQ(json_at(suspended.body, "reason"), "mines coins") << suspended.body;
  EXPECT_EQ(worker.receive<protocol::Revoke>().code, protocol::RevokeCode::operator_stopped);
  EXPECT_EQ(row(study).at("held").at("code"), "owner_suspended");
  EXPECT_EQ(row(study).at("held").at("reason"), "mines coins");
  const auto refused = server_.rest("GET", "/api/me");
  EXPECT_EQ(status_and_code(refused), "403 suspended");
  EXPECT_THAT(refused.body, ::testing::HasSubstr("Reason: mines coins"));
  // The revocation is sent before the end of the attempt is stored.
  nlohmann::json attempts;
  EXPECT_TRUE(until([&] {
    const std::string path = "/api/studies/" + std::to_string(study) + "/trials/0";
    attempts = nlohmann::json::parse(server_.admin("GET", path).body);
    return attempts.at("attempts_list")[0].at("state") == "revoked";
  }));
  EXPECT_EQ(attempts.at("attempts_list")[0].at("error").at("code"), "operator_stopped");
  EXPECT_EQ(attempts.at("state"), "running");  // the trial lost nothing
  worker.send(protocol::Ready{});
  worker.receive<protocol::Wait>();
  const auto active = server_.admin("POST", owner, R"({"state":"active"})");
  EXPECT_EQ(active.status, 200);
  EXPECT_FALSE(nlohmann::json::parse(active.body).contains("reason"));
  worker.receive<protocol::LeaseOffer>();
}

TEST_F(Stops, OnlyARefusalOrASuspensionHasAReason) {
  for (const char* body : {R"({"reason":"no state"})", R"({"state":"active","reason":"why"})",
                           R"({"state":"suspended","reason":7})"}) {
    const auto refused = server_.admin("POST", "/api/researchers/2", body);
    EXPECT_EQ(status_and_code(refused), "422 bad_field") << body;
    EXPECT_EQ(json_at(refused.body, "error.field"), "reason") << body;
  }
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/researchers/2",
                                          R"({"state":"suspended","reason":"too\u202ehot"})")),
            "422 bad_name");
  const std::string long_reason(501, 'x');
  EXPECT_EQ(
      status_and_code(server_.admin("POST", "/api/researchers/2",
                                    R"({"state":"suspended","reason":")" + long_reason + "\"}")),
      "422 too_long");
  EXPECT_EQ(server_.rest("GET", "/api/me").status, 200);
}

TEST_F(Stops, ABarredBundleRunsUnderNoName) {
  const std::int64_t study = server_.submit(1);
  TestWorker worker(server_, server_.join());
  const auto lease = worker.ready();
  const std::string& hash = lease.bundle.sha256;
  EXPECT_EQ(server_.admin("POST", "/api/barred/" + hash, R"({"reason":"mines coins"})").status,
            200);
  EXPECT_EQ(worker.receive<protocol::Revoke>().code, protocol::RevokeCode::operator_stopped);
  EXPECT_EQ(row(study).at("held").at("code"), "bundle_barred");
  const auto again = submit("another name");
  EXPECT_EQ(status_and_code(again), "403 bundle_barred");
  EXPECT_EQ(json_at(again.body, "error.field"), "bundle");
  // The bar also applies to a study that names the blob as data.
  auto spec = nlohmann::json::parse(TestServer::spec(1, "k2", server_.upload("other"), 5));
  spec["data"] = {{{"name", "d"},
                   {"kind", "file"},
                   {"filename", "d.bin"},
                   {"sha256", hash},
                   {"bytes", lease.bundle.bytes}}};
  const auto as_data = server_.rest("POST", "/api/studies", spec.dump());
  EXPECT_EQ(status_and_code(as_data), "403 bundle_barred") << as_data.body;
  EXPECT_EQ(json_at(server_.admin("GET", "/api/barred").body, "barred.0.sha256"), hash);
  EXPECT_EQ(server_.admin("POST", "/api/barred/" + hash + "/lift").status, 200);
  EXPECT_EQ(submit("another name").status, 201);
}

// A bar stops one blob. Mended code has another hash, so it may run. Then the barred code never
// runs again (R64).
TEST_F(Stops, MendedCodeRunsInThePlaceOfBarredCode) {
  const std::int64_t study = server_.submit(3);
  const std::string path = "/api/studies/" + std::to_string(study);
  const std::string mended = server_.upload("mended");
  const auto replay = [&](const std::string& sha256, std::size_t bytes) {
    const nlohmann::json code{{"entry", "mended:objective"},
                              {"bundle", {{"sha256", sha256}, {"bytes", bytes}}}};
    return server_.rest("POST", path + "/replay", nlohmann::json{{"code", code}}.dump());
  };
  std::string barred;
  {
    TestWorker worker(server_, server_.join());
    worker.send(TestWorker::failure(worker.await_lease().attempt));
    worker.receive<protocol::ResultAck>();
    const auto running = worker.await_lease();
    barred = running.bundle.sha256;
    server_.admin("POST", "/api/barred/" + barred);
    EXPECT_EQ(worker.receive<protocol::Revoke>().attempt, running.attempt);
    EXPECT_EQ(status_and_code(server_.rest("POST", path + "/replay")), "403 bundle_barred");
    const auto same = replay(barred, static_cast<std::size_t>(running.bundle.bytes));
    EXPECT_EQ(status_and_code(same), "403 bundle_barred");
    EXPECT_EQ(json_at(same.body, "error.field"), "code.bundle");
    server_.admin("POST", "/api/projects/1/freeze");
    EXPECT_EQ(status_and_code(replay(mended, 6)), "403 project_frozen");
    server_.admin("POST", "/api/projects/1/unfreeze");

    const auto row_of_mended = replay(mended, 6);
    ASSERT_EQ(row_of_mended.status, 200) << row_of_mended.body;
    EXPECT_EQ(json_at(row_of_mended.body, "code_version"), "2");
    EXPECT_FALSE(row(study).contains("held"));
    const auto next = worker.await_lease();
    EXPECT_EQ(next.bundle.sha256, mended);
    worker.send(TestWorker::result(next.attempt, 0.5));
    worker.receive<protocol::ResultAck>();
  }
  server_.restart();
  TestWorker worker(server_, server_.join());
  for (int trial = 0; trial < 2; ++trial) {
    const auto next = worker.await_lease();
    EXPECT_EQ(next.bundle.sha256, mended);
    worker.send(TestWorker::result(next.attempt, 0.5));
    worker.receive<protocol::ResultAck>();
  }
  EXPECT_TRUE(server_.reaches(study, "finished"));
  EXPECT_EQ(status_and_code(replay(barred, 8)), "409 no_failed_trial");
}

TEST_F(Stops, DevicesGetNoBarredBlob) {
  server_.submit(1);
  const TestDevice device = server_.join();
  TestWorker worker(server_, device);
  const std::string hash = worker.ready().bundle.sha256;
  const net::Headers credential{{"Authorization", "Device " + device.id + ":" + device.secret}};
  const auto fetch = [&] {
    return net::http_request(server_.compute(), "GET", "/api/blobs/" + hash, credential).status;
  };
  EXPECT_EQ(fetch(), 200);
  server_.admin("POST", "/api/barred/" + hash);
  EXPECT_EQ(fetch(), 404);
}

TEST_F(Stops, AnOwnerOfAnAskAndTellStudyIsAskedForNothing) {
  const std::int64_t study = server_.submit_asked();
  TestOwner owner(server_, study);
  owner.receive();
  owner.says({.room = 2});
  server_.admin("POST", "/api/projects/1/freeze");
  TestWorker worker(server_, server_.join());
  worker.send(protocol::Ready{});
  EXPECT_EQ(worker.receive<protocol::Wait>().reason, protocol::WaitReason::no_work);
  server_.admin("POST", "/api/projects/1/unfreeze");
  EXPECT_EQ(owner.receive().demand, 1);
}

// A reason must not contain invisible characters, because researchers read it on pages and in
// terminals.
TEST_F(Stops, AReasonIsPlainText) {
  const std::int64_t number = server_.submit(2);
  const std::string study = "/api/studies/" + std::to_string(number);
  for (const std::string& path :
       {std::string("/api/projects/1/freeze"), "/api/barred/" + std::string(64, 'a'),
        study + "/refuse", study + "/approve"}) {
    // NUL, a bidi override, a zero-width space, an escape sequence of terminals and a line break.
    for (const char* hidden : {"\\u0000", "\\u202e", "\\u200b", "\\u001b[2J", "\\n"}) {
      const auto refused =
          server_.admin("POST", path, R"({"reason":"too)" + std::string(hidden) + R"(hot"})");
      EXPECT_EQ(status_and_code(refused), "422 bad_name") << path << hidden;
      EXPECT_EQ(json_at(refused.body, "error.field"), "reason");
    }
  }
  EXPECT_FALSE(row(number).contains("held"));
  const auto frozen =
      server_.admin("POST", "/api/projects/1/freeze", R"({"reason":"zu hei\u00df, \u71b1\u3044"})");
  EXPECT_EQ(json_at(frozen.body, "reason"), "zu heiß, 熱い");
}

TEST_F(Stops, EachChangeIsInTheAuditLog) {
  server_.admin("POST", "/api/projects/1/freeze", R"({"reason":"too hot"})");
  server_.admin("POST", "/api/projects/1/freeze", R"({"reason":"too hot"})");  // changes nothing
  server_.admin("POST", "/api/projects/1/unfreeze");
  server_.admin("POST", "/api/barred/" + std::string(64, 'a'));
  server_.admin("POST", "/api/barred/" + std::string(64, 'a') + "/lift");
  server_.admin("POST", "/api/ceilings", R"({"scope":"server","devices":3})");
  server_.admin("POST", "/api/shares", R"({"scope":"project","name":"First project","weight":3})");
  std::vector<std::string> actions;
  for (const auto& entry :
       nlohmann::json::parse(server_.admin("GET", "/api/audit").body).at("entries"))
    actions.push_back(entry.at("action"));
  EXPECT_THAT(actions, ::testing::IsSupersetOf({"project.freeze", "project.unfreeze", "blob.bar",
                                                "blob.lift", "ceiling.set", "share.set"}));
  EXPECT_EQ(std::ranges::count(actions, "project.freeze"), 1);
}

// ---- approval

TEST_F(Stops, AStudyWaitsForApproval) {
  server_.admin("POST", "/api/ceilings", R"({"scope":"server","approval":true})");
  const auto made = submit("k");
  EXPECT_EQ(json_at(made.body, "held.code"), "approval_pending");
  const std::string path = "/api/studies/" + json_at(made.body, "study");
  TestWorker worker(server_, server_.join());
  worker.send(protocol::Ready{});
  worker.receive<protocol::Wait>();
  EXPECT_EQ(json_at(submit("k").body, "held.code"), "approval_pending");  // sent again
  EXPECT_EQ(json_at(server_.rest("POST", path + "/resume").body, "held.code"), "approval_pending");
  EXPECT_EQ(status_and_code(server_.rest("POST", path + "/approve")), "403 forbidden");
  EXPECT_EQ(status_and_code(server_.rest("GET", "/api/approvals")), "403 forbidden");
  const auto list = nlohmann::json::parse(server_.admin("GET", "/api/approvals").body);
  ASSERT_EQ(list.at("studies").size(), 1U);
  EXPECT_EQ(list.at("cursor"), list.at("studies")[0].at("study"));
  const auto approved = server_.admin("POST", path + "/approve");
  EXPECT_EQ(approved.status, 200);
  EXPECT_FALSE(nlohmann::json::parse(approved.body).contains("held"));
  const auto lease = worker.receive<protocol::LeaseOffer>().lease;
  // A larger space needs a new approval, and so does new code.
  worker.send(TestWorker::failure(lease.attempt));
  worker.receive<protocol::ResultAck>();
  EXPECT_EQ(
      json_at(
          server_.rest("POST", path + "/extend", R"({"space":[{"name":"x","values":[0,1,2,3,4]}]})")
              .body,
          "held.code"),
      "approval_pending");
  server_.admin("POST", path + "/approve");
  auto spec = nlohmann::json::parse(server_.rest("GET", path + "/spec").body);
  const std::string mended = "other code";
  const nlohmann::json body{
      {"code",
       {{"entry", spec.at("entry")},
        {"bundle", {{"sha256", server_.upload(mended)}, {"bytes", mended.size()}}},
        {"provenance", nlohmann::json::object()}}}};
  const auto other = server_.rest("POST", path + "/replay", body.dump());
  EXPECT_EQ(json_at(other.body, "held.code"), "approval_pending") << other.body;
}

TEST_F(Stops, ARefusedStudyIsCancelledAndSaysWhy) {
  server_.admin("POST", "/api/ceilings",
                R"({"scope":"project","name":"First project","approval":true})");
  const auto made = submit("k");
  const std::string path = "/api/studies/" + json_at(made.body, "study");
  const auto refused = server_.admin("POST", path + "/refuse", R"({"reason":"not here"})");
  EXPECT_EQ(json_at(refused.body, "state"), "cancelled") << refused.body;
  EXPECT_EQ(json_at(server_.rest("GET", path).body, "held.code"), "approval_refused");
  EXPECT_EQ(json_at(server_.rest("GET", path).body, "held.reason"), "not here");
  EXPECT_EQ(status_and_code(server_.rest("POST", path + "/replay")), "409 study_cancelled");
  EXPECT_EQ(status_and_code(server_.admin("POST", path + "/approve")), "409 not_waiting");
}

// ---- ceilings

TEST_F(Stops, CeilingsLimitWhatIsSubmitted) {
  server_.admin("POST", "/api/ceilings",
                R"({"scope":"researcher","name":"researcher","time_limit_ms":5000})");
  const auto refused = submit("k", R"({"time_limit_ms":5001})");
  EXPECT_EQ(status_and_code(refused), "403 ceiling_exceeded");
  EXPECT_EQ(json_at(refused.body, "error.field"), "limits.time_limit_ms");
  EXPECT_EQ(submit("k", R"({"time_limit_ms":0})").status, 201);
  TestWorker worker(server_, server_.join());
  EXPECT_EQ(worker.ready().time_limit_ms, 5'000);
  server_.admin("POST", "/api/ceilings",
                R"({"scope":"project","name":"First project","data_bytes":7})");
  EXPECT_EQ(json_at(submit("k2", R"({"time_limit_ms":0})").body, "error.field"), "data");
  const auto mine = nlohmann::json::parse(server_.rest("GET", "/api/projects").body);
  EXPECT_EQ(mine.at("projects")[0].at("ceiling").at("time_limit_ms"), 5'000);
  EXPECT_EQ(mine.at("projects")[0].at("ceiling").at("data_bytes"), 7);
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/ceilings", R"({"scope":"server"})")),
            "403 forbidden");
  const auto removed =
      server_.admin("POST", "/api/ceilings",
                    R"({"scope":"researcher","name":"researcher","time_limit_ms":null})");
  EXPECT_EQ(removed.body, R"({"scope":"researcher","name":"researcher"})");
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/ceilings", R"({"scope":"moon"})")),
            "422 bad_field");
}

TEST_F(Stops, AStudyWithoutATimeLimitGetsTheCeiling) {
  const auto limit_of = [this](const HttpAnswer& made) {
    const auto spec = nlohmann::json::parse(
        server_.rest("GET", "/api/studies/" + json_at(made.body, "study") + "/spec").body);
    return spec.at("limits").at("time_limit_ms").get<std::int64_t>();
  };
  EXPECT_EQ(limit_of(submit("free", "{}")), 3'600'000);
  server_.admin("POST", "/api/ceilings", R"({"scope":"server","time_limit_ms":5000})");
  const auto made = submit("k", R"({"max_failures":2})");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(limit_of(made), 5'000);
  // The default as a number is above the ceiling like any other number.
  EXPECT_EQ(status_and_code(submit("named", R"({"time_limit_ms":3600000})")),
            "403 ceiling_exceeded");
  // Sent again under another ceiling, it is still the same study.
  for (const char* ceiling : {"9000", "2000", "7200000", "null"}) {
    server_.admin("POST", "/api/ceilings",
                  R"({"scope":"server","time_limit_ms":)" + std::string(ceiling) + "}");
    const auto again = submit("k", R"({"max_failures":2})");
    EXPECT_EQ(again.status, 200) << ceiling << again.body;
    EXPECT_EQ(json_at(again.body, "study"), json_at(made.body, "study"));
    const std::string key = std::string("new under ") + ceiling;
    EXPECT_LE(limit_of(submit(key, "{}")), 3'600'000) << ceiling;
  }
  EXPECT_EQ(status_and_code(submit("k", R"({"time_limit_ms":4000})")), "409 study_exists");
}

// ---- blobs

class Possession : public Stops {
 protected:
  Possession() {
    const auto made = server_.admin("POST", "/api/researchers", R"({"name":"grace"})");
    grace_ = json_at(made.body, "token");
  }
  HttpAnswer as_grace(std::string_view method, const std::string& target,
                      std::string_view body = {}) const {
    return server_.rest_as(grace_, method, target, body);
  }
  // Returns the answer to the request for a salt.
  HttpAnswer salt(const std::string& hash, std::size_t bytes) const {
    return as_grace("POST", "/api/blobs/" + hash + "/salt",
                    R"({"bytes":)" + std::to_string(bytes) + "}");
  }
  HttpAnswer prove(const std::string& hash, const std::string& salt_hex,
                   const std::string& content) const {
    std::string salt_bytes;
    for (std::size_t i = 0; i < salt_hex.size(); i += 2)
      salt_bytes += static_cast<char>(std::stoi(salt_hex.substr(i, 2), nullptr, 16));
    return as_grace("POST", "/api/blobs/" + hash + "/proof",
                    R"({"salt":")" + salt_hex + R"(","proof":")" +
                        blobs::sha256_hex(salt_bytes + content) + R"("})");
  }
  HttpAnswer submit_as_grace(const std::string& hash, std::size_t bytes) const {
    return as_grace("POST", "/api/studies", TestServer::spec(1, "g", hash, bytes));
  }

  const std::string content_ = std::string(100'000, 'x');
  std::string grace_;
};

TEST_F(Possession, NobodyNamesABlobByItsHashAlone) {
  const std::string hash = server_.upload(content_);
  const auto refused = submit_as_grace(hash, content_.size());
  const auto unknown = submit_as_grace(std::string(64, '0'), content_.size());
  EXPECT_EQ(status_and_code(refused), "422 unknown_blob");
  EXPECT_EQ(without_request_id(refused.body), without_request_id(unknown.body));
  // A wrong length gets the same answer. So the answer does not show whether the server has the
  // blob.
  EXPECT_EQ(without_request_id(submit_as_grace(hash, 5).body), without_request_id(unknown.body));
  EXPECT_EQ(as_grace("HEAD", "/api/blobs/" + hash).status, 404);
  EXPECT_EQ(server_.rest("HEAD", "/api/blobs/" + hash).status, 200);
}

TEST_F(Possession, TheRightProofTakesThePlaceOfTheUpload) {
  const std::string hash = server_.upload(content_);
  const auto given = salt(hash, content_.size());
  EXPECT_EQ(json_at(given.body, "owned"), "false");
  const std::string text = json_at(given.body, "salt");
  EXPECT_EQ(prove(hash, text, content_).status, 200);
  EXPECT_EQ(json_at(as_grace("GET", "/api/me").body, "used.bytes"), "100000");
  EXPECT_EQ(salt(hash, content_.size()).body, R"({"owned":true})");
  EXPECT_EQ(submit_as_grace(hash, content_.size()).status, 201);
}

TEST_F(Possession, AWrongProofSaysWhatAMissingBlobSays) {
  const std::string hash = server_.upload(content_);
  const std::string missing = blobs::sha256_hex("missing");
  const auto wrong = prove(hash, json_at(salt(hash, content_.size()).body, "salt"), "guess");
  const auto none = prove(missing, json_at(salt(missing, content_.size()).body, "salt"), "guess");
  EXPECT_EQ(status_and_code(wrong), "404 unknown_blob");
  EXPECT_EQ(without_request_id(wrong.body), without_request_id(none.body));
  // A proof is refused, too, if its salt was requested for a wrong length.
  EXPECT_EQ(status_and_code(prove(hash, json_at(salt(hash, 99'999).body, "salt"), content_)),
            "404 unknown_blob");
}

TEST_F(Possession, AProofIsUsedOnceAndByOnePerson) {
  const std::string hash = server_.upload(content_);
  const std::string text = json_at(salt(hash, content_.size()).body, "salt");
  EXPECT_EQ(status_and_code(prove(hash, text, "guess")), "404 unknown_blob");
  EXPECT_EQ(status_and_code(prove(hash, text, content_)), "409 unknown_salt");
  const std::string next = json_at(salt(hash, content_.size()).body, "salt");
  const std::string body = R"({"salt":")" + next + R"(","proof":")" + next + R"("})";
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/blobs/" + hash + "/proof", body)),
            "409 unknown_salt");
}

TEST_F(Possession, ShortBytesAreUploadedInAnyCase) {
  const std::string hash = server_.upload("secret");
  EXPECT_EQ(salt(hash, 6).body, R"({"owned":false})");
  const auto put = as_grace("PUT", "/api/blobs/" + hash, "secret");
  EXPECT_EQ(put.status, 201);  // new for this person, whoever else has it
  EXPECT_EQ(as_grace("PUT", "/api/blobs/" + hash, "secret").status, 200);
}

TEST_F(Possession, AQuotaIsToldBeforeTheProof) {
  server_.admin("POST", "/api/researchers/3", R"({"quota":{"bytes":99999}})");
  const std::string hash = server_.upload(content_);
  EXPECT_EQ(status_and_code(salt(hash, content_.size())), "403 quota_exceeded");
  EXPECT_EQ(without_request_id(salt(std::string(64, '0'), content_.size()).body),
            without_request_id(salt(hash, content_.size()).body));
}

}  // namespace
}  // namespace hyperflock::app
