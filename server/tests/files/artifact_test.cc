// Tests artifacts with a whole server: stored, counted, refused with their codes, read by the
// researcher, and kept when the server ends in any way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <vector>

#include "blobs/sha256.h"
#include "tests/support/test_program.h"
#include "tests/support/test_uploads.h"

namespace hyperflock::app {
namespace {

using net::HttpAnswer;
using ::testing::ElementsAre;

const std::string kPng("\x89PNG\r\n\x1a\n some pixels", 20);

// "Kurve ü+1.png", escaped as encodeURIComponent escapes it.
const std::string kQuery = "&name=Kurve%20%C3%BC%2B1.png&type=image%2Fsvg%2Bxml&store=s%2F1";

HttpAnswer put(const TestServer& server, const TestDevice& device, const protocol::Lease& lease,
               const std::string& id, const std::string& bytes, const std::string& query = kQuery) {
  return ask(server, device, "PUT",
             path_of(lease) + "/artifacts/" + blobs::sha256_hex(bytes) + "?id=" + id + query,
             bytes);
}

std::vector<std::string> ids_in(const std::string& page) {
  std::vector<std::string> ids;
  for (int i = 0;; ++i) {
    const std::string id = json_at(page, "artifacts." + std::to_string(i) + ".id");
    if (id.starts_with("nothing at")) return ids;
    ids.push_back(id);
  }
}

class ArtifactTest : public ::testing::Test {
 protected:
  ArtifactTest() : first_(server_.join()), worker_(server_, first_) {
    study_ = "/api/studies/" + std::to_string(server_.submit(2));
    lease_ = worker_.ready();
  }

  HttpAnswer upload(const std::string& id, const std::string& bytes) const {
    return put(server_, first_, lease_, id, bytes);
  }
  HttpAnswer read(const std::string& id) const {
    return server_.rest("GET", study_ + "/artifacts/" + id);
  }
  std::vector<std::string> ids(const std::string& query = {}) const {
    return ids_in(server_.rest("GET", study_ + "/artifacts" + query).body);
  }
  std::string used_bytes() const {
    return json_at(server_.rest("GET", "/api/me").body, "used.bytes");
  }

  TestServer server_;
  TestDevice first_;
  TestWorker worker_;
  std::string study_;
  protocol::Lease lease_;
};

TEST_F(ArtifactTest, R54_AFileOfATrialReachesItsResearcher) {
  const auto sent = upload("a-1_B", kPng);
  EXPECT_EQ(sent.status, 201) << sent.body;
  const std::string receipt = R"({"attempt":)" + std::to_string(to_int(lease_.attempt)) +
                              R"(,"id":"a-1_B","sha256":")" + blobs::sha256_hex(kPng) + R"("})";
  EXPECT_EQ(sent.body, receipt);
  const auto again = upload("a-1_B", kPng);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, receipt);

  const std::string page = server_.rest("GET", study_ + "/artifacts").body;
  EXPECT_EQ(json_at(page, "artifacts.0.trial"), std::to_string(to_int(lease_.trial)));
  EXPECT_EQ(json_at(page, "artifacts.0.attempt"), std::to_string(to_int(lease_.attempt)));
  EXPECT_EQ(json_at(page, "artifacts.0.name"), "Kurve \xC3\xBC+1.png");
  EXPECT_EQ(json_at(page, "artifacts.0.type"), "image/svg+xml");
  EXPECT_EQ(json_at(page, "artifacts.0.store"), "s/1");
  EXPECT_EQ(json_at(page, "artifacts.0.sha256"), blobs::sha256_hex(kPng));
  EXPECT_EQ(json_at(page, "artifacts.0.bytes"), std::to_string(kPng.size()));
  EXPECT_GT(std::stoll(json_at(page, "artifacts.0.created_at")), 1'600'000'000'000);

  const auto bytes = read("a-1_B");
  EXPECT_EQ(bytes.status, 200);
  EXPECT_EQ(bytes.body, kPng);
  EXPECT_EQ(bytes.headers.at("content-type"), "application/octet-stream");
  EXPECT_EQ(bytes.headers.at("content-disposition"),
            "attachment; filename=\"Kurve _+1.png\"; filename*=UTF-8''Kurve%20%C3%BC%2B1.png");
  EXPECT_EQ(bytes.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(bytes.headers.at("content-security-policy"),
            "default-src 'none'; sandbox; frame-ancestors 'none'");
  EXPECT_EQ(bytes.headers.at("cache-control"), "no-store");
}

TEST_F(ArtifactTest, R54_TheyAreListedByCursorAndByTrial) {
  TestWorker worker(server_, server_.join());
  worker.ready();
  for (const char* id : {"z", "y", "x"}) EXPECT_EQ(upload(id, "bytes").status, 201);
  EXPECT_THAT(ids(), ElementsAre("z", "y", "x"));
  const auto part = server_.rest("GET", study_ + "/artifacts?limit=2");
  EXPECT_THAT(ids_in(part.body), ElementsAre("z", "y"));
  const std::string after = "?after=" + json_at(part.body, "cursor");
  EXPECT_THAT(ids(after), ElementsAre("x"));
  EXPECT_THAT(ids(after + "&trial=0"), ElementsAre("x"));
  EXPECT_EQ(server_.rest("GET", study_ + "/artifacts?after=7&trial=1").body,
            R"({"artifacts":[],"cursor":7})");
  for (const char* query : {"?trial=x", "?after=-1", "?limit=501"})
    EXPECT_EQ(code_of(server_.rest("GET", study_ + "/artifacts" + query)), "bad_number") << query;
}

TEST_F(ArtifactTest, R54_AnyBytesAreTakenAlsoNone) {
  EXPECT_EQ(upload("none", "").status, 201);
  EXPECT_EQ(read("none").body, "");
  const std::string pieces(700'000, 'p');
  EXPECT_EQ(put(server_, first_, lease_, "pieces", pieces, "&name=a&type=b").status, 201);
  EXPECT_EQ(read("pieces").body, pieces);
  EXPECT_EQ(json_at(server_.rest("GET", study_ + "/artifacts").body, "artifacts.1.store"), "");
}

TEST_F(ArtifactTest, R54_WhatIsWrongIsNamedAndLeavesNothing) {
  const auto field = [this](const std::string& id, const std::string& query) {
    const auto refused = put(server_, first_, lease_, id, "x", query);
    return std::to_string(refused.status) + ' ' + code_of(refused) + ' ' +
           json_at(refused.body, "error.field");
  };
  const std::string longest(255, 'n');
  for (const std::string& id : {std::string(), std::string("a%20b"), std::string("a/b"),
                                std::string(65, 'a'), std::string("%"), std::string("%G0")})
    EXPECT_EQ(field(id, kQuery), "422 bad_field id") << id;
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a%2Fb"),
        std::string("a%5Cb"), std::string("a%0Ab"), std::string("a%7F"), std::string("%C2%9B2J"),
        std::string("%FF"), longest + "n"})
    EXPECT_EQ(field("i", "&type=t&name=" + name), "422 bad_field name") << name;
  for (const std::string& type :
       {std::string(), std::string("t%0At"), std::string("%C3%BC"), std::string(128, 't')})
    EXPECT_EQ(field("i", "&name=n&type=" + type), "422 bad_field type") << type;
  for (const std::string& store : {longest + "n", std::string("%1B"), std::string("%FF")})
    EXPECT_EQ(field("i", "&name=n&type=t&store=" + store), "422 bad_field store") << store;
  const std::string target = path_of(lease_) + "/artifacts/";
  EXPECT_EQ(code_of(ask(server_, first_, "PUT", target + "XYZ?id=i&name=n&type=t", "x")),
            "bad_field");
  EXPECT_EQ(code_of(ask(server_, first_, "PUT",
                        target + std::string(64, '0') + "?id=i&name=n&type=t", "x")),
            "hash_mismatch");
  EXPECT_EQ(code_of(put(server_, server_.join(), lease_, "i", "x")), "unknown_attempt");
  EXPECT_EQ(put(server_, first_, lease_, "i", "x", "&type=t&name=" + longest).status, 201);
  EXPECT_EQ(code_of(read("j")), "unknown_artifact");
  EXPECT_EQ(read("j").status, 404);
  worker_.send(protocol::Release{lease_.attempt, 1, protocol::ReleaseReason::stopped});
  worker_.receive<protocol::Ack>();
  EXPECT_EQ(code_of(upload("k", "y")), "unknown_attempt");
  EXPECT_TRUE(files_become(server_, 1));
}

TEST_F(ArtifactTest, R54_AnIdIsTakenOnceInItsAttempt) {
  ASSERT_EQ(upload("one", "bytes").status, 201);
  const auto other = upload("one", "other bytes");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(code_of(other), "artifact_exists");
  EXPECT_TRUE(files_become(server_, 1));

  // Only one of the two uploads may succeed. Chance decides which one.
  for (int round = 0; round < 5; ++round) {
    const std::string id = "r" + std::to_string(round);
    int first = 0;
    auto racer = std::async(std::launch::async, [&] { first = upload(id, "first " + id).status; });
    const int second = upload(id, "second " + id).status;
    racer.get();
    EXPECT_THAT((std::vector{std::min(first, second), std::max(first, second)}),
                ElementsAre(201, 409));
    EXPECT_EQ(read(id).body, (first == 201 ? "first " : "second ") + id);
  }
  EXPECT_TRUE(files_become(server_, 6));
}

TEST_F(ArtifactTest, R54_NoDeviceCanTakeTheIdsOfAnotherTrial) {
  const TestDevice second = server_.join();
  TestWorker worker(server_, second);
  const protocol::Lease lease = worker.ready();
  ASSERT_EQ(put(server_, second, lease, "one", "squatted").status, 201);
  ASSERT_EQ(upload("one", "bytes").status, 201);
  EXPECT_EQ(read("one?trial=" + std::to_string(to_int(lease_.trial))).body, "bytes");
  EXPECT_EQ(read("one?trial=" + std::to_string(to_int(lease.trial))).body, "squatted");
  EXPECT_EQ(code_of(read("one?trial=9")), "unknown_artifact");
  EXPECT_EQ(code_of(read("one?trial=x")), "bad_number");
}

TEST_F(ArtifactTest, R54_TheyCountAsTheOwnersBytes) {
  EXPECT_EQ(used_bytes(), "8");  // the size of the bundle
  const std::string& admin = server_.secrets().admin_token;
  const auto people = server_.rest_as(admin, "GET", "/api/researchers");
  const std::string owner = "/api/researchers/" + json_at(people.body, "researchers.1.researcher");
  ASSERT_EQ(server_.rest_as(admin, "POST", owner, R"({"quota":{"bytes":19}})").status, 200);
  EXPECT_EQ(upload("a", "12345").status, 201);
  EXPECT_EQ(upload("b", "12345").status, 201);  // each row counts, even with the same bytes
  EXPECT_EQ(upload("b", "12345").status, 200);
  EXPECT_EQ(used_bytes(), "18");
  const auto refused = upload("c", "12");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(code_of(refused), "quota_exceeded");
  EXPECT_TRUE(files_become(server_, 1));
  EXPECT_EQ(code_of(server_.rest("PUT", "/api/blobs/" + blobs::sha256_hex("12"), "12")),
            "quota_exceeded");
  EXPECT_EQ(upload("c", "1").status, 201);
  server_.rest("POST", study_ + "/cancel");
  EXPECT_EQ(used_bytes(), "8");
  EXPECT_TRUE(files_become(server_, 0));
}

TEST_F(ArtifactTest, R54_AnAttemptThatUploadsWithoutEndIsSlowedDown) {
  HttpAnswer answer;
  for (int i = 0; i < 10'000 && answer.status != 429; ++i) answer = upload("f", "bytes");
  EXPECT_EQ(code_of(answer), "artifact_quota");
  EXPECT_EQ(answer.headers.at("retry-after"), "1");
}

TEST_F(ArtifactTest, R54_ThoseOfOtherAttemptsStayUntilAResultIsAccepted) {
  ASSERT_EQ(upload("of_the_first", "first").status, 201);
  worker_.send(protocol::Release{lease_.attempt, 1, protocol::ReleaseReason::page_hidden});
  worker_.receive<protocol::Ack>();
  const TestDevice second = server_.join();
  TestWorker worker(server_, second);
  const protocol::Lease next = worker.ready();
  ASSERT_EQ(next.trial, lease_.trial);
  ASSERT_EQ(put(server_, second, next, "of_the_second", "second").status, 201);
  EXPECT_THAT(ids(), ElementsAre("of_the_first", "of_the_second"));
  worker.send(TestWorker::result(next.attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
  EXPECT_THAT(ids(), ElementsAre("of_the_second"));
  EXPECT_EQ(code_of(read("of_the_first")), "unknown_artifact");
  EXPECT_TRUE(files_become(server_, 1));
  EXPECT_EQ(read("of_the_second").body, "second");
}

TEST_F(ArtifactTest, R54_TheyAreTheirStudysAlone) {
  ASSERT_EQ(upload("a", "bytes").status, 201);
  const std::string& admin = server_.secrets().admin_token;
  const auto person = server_.rest_as(admin, "POST", "/api/researchers", R"({"name":"grace"})");
  const std::string token = json_at(person.body, "token");
  for (const std::string& target : {study_ + "/artifacts", study_ + "/artifacts/a"}) {
    EXPECT_EQ(code_of(server_.rest_as(token, "GET", target)), "unknown_study");
    EXPECT_EQ(ask(server_, first_, "GET", target).status, 404);
  }
  const std::string other = "/api/studies/" + std::to_string(server_.submit(1, "other"));
  EXPECT_EQ(code_of(server_.rest("GET", other + "/artifacts/a")), "unknown_artifact");
  EXPECT_EQ(server_.rest_as(admin, "GET", study_ + "/artifacts/a").body, "bytes");
  const std::string log = server_.rest_as(admin, "GET", "/api/audit").body;
  EXPECT_NE(log.find(R"("action":"study.read")"), std::string::npos) << log;
}

TEST_F(ArtifactTest, R54_WhatIsAcknowledgedSurvivesSigkillAndNothingElseStays) {
  ASSERT_EQ(upload("before", "before").status, 201);
  server_.restart([this] {
    Program program(server_.config().state_dir, server_.file("ready.json"));
    const std::uint16_t port = program.port();
    ASSERT_NE(port, 0);
    const auto sent = net::http_request(
        port, "PUT",
        path_of(lease_) + "/artifacts/" + blobs::sha256_hex("last") + "?id=last&name=n&type=t",
        {{"Authorization", "Device " + first_.id + ":" + first_.secret}}, "last");
    EXPECT_EQ(sent.status, 201) << sent.body;
    program.end(SIGKILL);
    // Adds files as if the server had been killed during uploads: one complete file without a row,
    // and half of another one.
    const std::string folder = server_.file("state/checkpoints");
    std::filesystem::create_directories(folder + "/00");
    std::ofstream(folder + "/00/" + std::string(62, '0')) << "orphan";
    std::ofstream(folder + "/uploads/half") << "half";
    EXPECT_TRUE(files_become(server_, 4));
  });
  EXPECT_EQ(read("before").body, "before");
  EXPECT_EQ(read("last").body, "last");
  EXPECT_EQ(used_bytes(), "18");
  EXPECT_TRUE(files_become(server_, 2));
}

}  // namespace
}  // namespace hyperflock::app
