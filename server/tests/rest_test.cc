// Tests rest.md with a running server: both origins, their answers and their refusals.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::http_raw;
using net::http_request;
using net::TestSocket;

class RestTest : public ::testing::Test {
 protected:
  TestServer server_;
  const std::string missing_ = std::string(64, '0');
};

TEST_F(RestTest, MeNamesTheCaller) {
  const auto answer = server_.rest("GET", "/api/me");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json_at(answer.body, "name"), "researcher");
  EXPECT_EQ(json_at(answer.body, "role"), "researcher");
  EXPECT_EQ(json_at(answer.body, "join_origin"), server_.server().compute_origin());
  EXPECT_EQ(json_at(answer.body, "max_blob_bytes"), std::to_string(512 << 20));
  EXPECT_EQ(json_at(server_.rest_as(server_.secrets().admin_token, "GET", "/api/me").body, "role"),
            "admin");
}

TEST_F(RestTest, NothingWithoutAToken) {
  for (const char* target : {"/api/me", "/api/studies", "/api/studies/1", "/api/workers"}) {
    EXPECT_EQ(status_and_code(http_request(server_.console(), "GET", target)), "401 unauthorized")
        << target;
    EXPECT_EQ(status_and_code(server_.rest_as("hfr_wrong", "GET", target)), "401 unauthorized")
        << target;
  }
  EXPECT_EQ(status_and_code(http_request(server_.console(), "POST", "/api/studies", {}, "{}")),
            "401 unauthorized");
  EXPECT_EQ(
      status_and_code(http_request(server_.console(), "PUT", "/api/blobs/" + missing_, {}, "x")),
      "401 unauthorized");
}

TEST_F(RestTest, ManyWrongCredentialsOfAnAddressLockNobodyOut) {
  std::string last;
  // The limit allows more attempts as time passes, so a slow machine needs more attempts to reach
  // it.
  for (int i = 0; i < 10'000 && last != "429 rate_limited"; ++i)
    last = status_and_code(server_.rest_as("hfr_wrong", "GET", "/api/me"));
  EXPECT_EQ(last, "429 rate_limited");
  EXPECT_TRUE(until([this] {
    TestWorker stranger(server_);
    stranger.send(TestWorker::hello({"d_nobody", "hfd_wrong"}));
    return stranger.receive<protocol::Refused>().code == "rate_limited";
  }));
  EXPECT_EQ(status_and_code(
                http_request(server_.compute(), "POST", "/api/project", {}, R"({"code":"no"})")),
            "429 rate_limited");
  // Clients with valid credentials at the same address are not refused.
  EXPECT_EQ(server_.rest("GET", "/api/me").status, 200);
  TestWorker(server_, server_.join());
}

TEST_F(RestTest, R34_AnAdministratorRevokesADevice) {
  server_.submit(1);
  const TestDevice device = server_.join();
  const std::string target = "/api/devices/" + device.id + "/revoke";
  const auto revoke = [this, &target] {
    return server_.rest_as(server_.secrets().admin_token, "POST", target);
  };
  TestWorker worker(server_, device);
  const auto lease = worker.ready();

  EXPECT_EQ(revoke().body, R"({"device":")" + device.id + R"(","revoked":true})");
  const auto told = worker.receive<protocol::Revoke>();
  EXPECT_EQ(told.attempt, lease.attempt);
  EXPECT_EQ(told.code, protocol::RevokeCode::device_revoked);
  EXPECT_EQ(worker.socket().wait_close(), 4003);
  EXPECT_EQ(revoke().status, 200);  // the same request again

  TestWorker again(server_);
  again.send(TestWorker::hello(device));
  EXPECT_EQ(again.receive<protocol::Refused>().code, "banned");
  EXPECT_EQ(status_and_code(
                http_request(server_.compute(), "GET", "/api/blobs/" + missing_,
                             {{"Authorization", "Device " + device.id + ":" + device.secret}})),
            "401 unauthorized");
  EXPECT_EQ(to_int(TestWorker(server_, server_.join()).ready().trial), 0);  // issued again
  EXPECT_EQ(status_and_code(server_.rest_as(server_.secrets().admin_token, "POST",
                                            "/api/devices/d_nobody/revoke")),
            "404 unknown_device");
  server_.restart();
  TestWorker later(server_);
  later.send(TestWorker::hello(device));
  EXPECT_EQ(later.receive<protocol::Refused>().code, "banned");
}

TEST_F(RestTest, R40_PlacementSaysWhichDevicesMatchAndWhyOthersDoNot) {
  const std::string bundle = "a bundle";
  nlohmann::json spec =
      nlohmann::json::parse(TestServer::spec(1, "k", server_.upload(bundle), bundle.size()));
  spec["runtime"]["backend"] = "webgpu";
  ASSERT_EQ(server_.rest("POST", "/api/studies", spec.dump()).status, 201);
  const auto placement = [this] { return server_.rest("GET", "/api/studies/1/placement").body; };
  const std::string rest =
      R"(,"share":{"weight":100,"weights":100,"guaranteed":0,"devices":0,"ahead":0},"waits":)";
  EXPECT_EQ(placement(), R"({"devices":0,"matching":0,"reasons":[])" + rest + R"("no_device"})");
  TestWorker plain(server_, server_.join());
  EXPECT_EQ(placement(),
            R"({"devices":1,"matching":0,"reasons":[{"code":"no_webgpu","devices":1}])" + rest +
                R"("no_match"})");
  TestWorker with_gpu(server_);
  auto hello = std::get<protocol::Hello>(TestWorker::hello(server_.join()));
  hello.capabilities.backends = {"webgpu", "cpu"};
  hello.capabilities.gpu = protocol::GpuFacts{"vendor family", false, true, 512};
  with_gpu.send(hello);
  with_gpu.receive<protocol::Welcome>();
  EXPECT_EQ(json_at(placement(), "matching"), "1");
  const std::string workers = server_.rest("GET", "/api/workers").body;
  EXPECT_NE(workers.find(R"("backends":["webgpu","cpu"],"memory_mb":1024,"cores":2,)"
                         R"("gpu":{"adapter":"vendor family","software":false,"f16":true,)"
                         R"("buffer_mb":512})"),
            std::string::npos)
      << workers;
  EXPECT_EQ(with_gpu.ready().backend, "webgpu");
  EXPECT_EQ(status_and_code(server_.rest("GET", "/api/studies/9/placement")), "404 unknown_study");
}

TEST_F(RestTest, R33_ReissueIssuesFailedTrialsAgain) {
  const std::int64_t study = server_.submit(1);
  const std::string path = "/api/studies/" + std::to_string(study);
  TestWorker worker(server_, server_.join());
  worker.send(TestWorker::failure(worker.ready().attempt));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::recorded);
  ASSERT_TRUE(server_.reaches(study, "finished"));
  EXPECT_EQ(json_at(server_.rest("GET", path + "/trials").body, "trials.0.error.traceback"),
            "trace");

  const auto row = server_.rest("POST", path + "/replay");
  EXPECT_EQ(row.status, 200);
  EXPECT_EQ(json_at(row.body, "state"), "running");
  EXPECT_EQ(json_at(row.body, "failed"), "0");
  worker.send(TestWorker::result(worker.ready().attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
  ASSERT_TRUE(server_.reaches(study, "finished"));
  EXPECT_EQ(json_at(server_.rest("POST", path + "/replay").body, "complete"), "1");
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/studies/99/replay")), "404 unknown_study");
  const std::string other = "/api/studies/" + std::to_string(server_.submit(1, "other"));
  server_.rest("POST", other + "/cancel");
  EXPECT_EQ(status_and_code(server_.rest("POST", other + "/replay")), "409 study_cancelled");
}

TEST_F(RestTest, NothingIsReissueedInAProjectThatIsNotOpenAnyMore) {
  const std::string path = "/api/studies/" + std::to_string(server_.submit(1));
  const std::string& admin = server_.secrets().admin_token;
  const auto people = server_.rest_as(admin, "GET", "/api/researchers");
  const std::string owner = json_at(people.body, "researchers.1.researcher");
  ASSERT_EQ(
      server_.rest_as(admin, "POST", "/api/researchers/" + owner, R"({"projects":[]})").status,
      200);
  EXPECT_EQ(status_and_code(server_.rest("POST", path + "/replay")), "403 forbidden");
  EXPECT_EQ(server_.rest("POST", path + "/pause").status, 200);
  EXPECT_EQ(status_and_code(server_.rest("POST", path + "/resume")), "403 forbidden");
  EXPECT_EQ(server_.rest("GET", path).status, 200);
  EXPECT_EQ(server_.rest_as(admin, "POST", path + "/replay").status, 200);
}

TEST_F(RestTest, BlobRoundTrip) {
  const std::string bytes(700'000, 'b');  // several pieces
  const std::string sha256 = blobs::sha256_hex(bytes);
  EXPECT_EQ(server_.rest("HEAD", "/api/blobs/" + sha256).status, 404);
  EXPECT_EQ(server_.rest("PUT", "/api/blobs/" + sha256, bytes).status, 201);
  EXPECT_EQ(server_.rest("PUT", "/api/blobs/" + sha256, bytes).status, 200);
  EXPECT_EQ(server_.rest("HEAD", "/api/blobs/" + sha256).status, 200);
}

TEST_F(RestTest, BlobRefusals) {
  EXPECT_EQ(status_and_code(server_.rest("PUT", "/api/blobs/" + missing_, "other bytes")),
            "422 hash_mismatch");
  EXPECT_EQ(server_.rest("HEAD", "/api/blobs/" + missing_).status, 404);
  EXPECT_EQ(status_and_code(server_.rest("PUT", "/api/blobs/xyz", "x")), "422 bad_field");
  TestServer small([](ServeConfig& config) { config.max_blob_bytes = 1'000; });
  const std::string bytes(1'001, 'x');
  EXPECT_EQ(status_and_code(small.rest("PUT", "/api/blobs/" + blobs::sha256_hex(bytes), bytes)),
            "413 blob_too_large");
  // The server refuses the request by its header, before any byte of the body.
  TestSocket socket(small.console());
  EXPECT_EQ(status_and_code(http_raw(socket, "PUT /api/blobs/" + missing_ +
                                                 " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                                                 small.secrets().researcher_token +
                                                 "\r\nContent-Length: 99999999999\r\n\r\n")),
            "413 blob_too_large");
}

TEST_F(RestTest, AnEmptyBlobIsABlob) {
  EXPECT_EQ(server_.rest("PUT", "/api/blobs/" + blobs::sha256_hex("")).status, 201);
}

TEST_F(RestTest, StudyRoundTrip) {
  const std::int64_t id = server_.submit(3);
  const auto row = server_.rest("GET", "/api/studies/" + std::to_string(id));
  EXPECT_EQ(row.status, 200);
  EXPECT_EQ(json_at(row.body, "owner"), "researcher");
  EXPECT_EQ(json_at(row.body, "total"), "3");
  EXPECT_EQ(json_at(row.body, "state"), "running");
  EXPECT_EQ(json_at(row.body, "space"), R"([{"name":"x","values":[0,1,2]}])");
  const auto list = server_.rest("GET", "/api/studies");
  EXPECT_EQ(json_at(list.body, "studies.0.study"), std::to_string(id));
  const auto trials = server_.rest("GET", "/api/studies/" + std::to_string(id) + "/trials");
  EXPECT_EQ(trials.body, R"({"trials":[],"cursor":0})");
}

TEST_F(RestTest, SubmitIsIdempotentByItsKey) {
  const std::string bundle = "a bundle";
  const std::string sha256 = server_.upload(bundle);
  const auto first =
      server_.rest("POST", "/api/studies", TestServer::spec(2, "k", sha256, bundle.size()));
  const auto again =
      server_.rest("POST", "/api/studies", TestServer::spec(2, "k", sha256, bundle.size()));
  const auto other =
      server_.rest("POST", "/api/studies", TestServer::spec(2, "l", sha256, bundle.size()));
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(other.status, 201);
  EXPECT_EQ(json_at(first.body, "study"), json_at(again.body, "study"));
  EXPECT_NE(json_at(first.body, "study"), json_at(other.body, "study"));
}

TEST_F(RestTest, AKeyWithOtherContentIsRefused) {
  const std::string bundle = "a bundle";
  const std::string sha256 = server_.upload(bundle);
  const auto submit = [&](const std::string& body) {
    return server_.rest("POST", "/api/studies", body);
  };
  const std::string body = TestServer::spec(2, "k", sha256, bundle.size());
  EXPECT_EQ(submit(body).status, 201);
  const auto with = [&body](const std::string& member, const nlohmann::json& value) {
    auto changed = nlohmann::json::parse(body);
    changed[member] = value;
    return changed.dump();
  };
  EXPECT_EQ(status_and_code(submit(TestServer::spec(3, "k", sha256, bundle.size()))),
            "409 study_exists");
  EXPECT_EQ(status_and_code(submit(with("seed", 8))), "409 study_exists");
  EXPECT_EQ(status_and_code(submit(with("direction", "minimize"))), "409 study_exists");
  const nlohmann::json older{{"chainer", "5.4.0"}};
  EXPECT_EQ(status_and_code(submit(with("runtime", older))), "409 study_exists");
  // A submission that differs only in its name or provenance is the same study.
  EXPECT_EQ(submit(with("name", "another name")).status, 200);
  const nlohmann::json elsewhere{{"client", "another"}};
  EXPECT_EQ(submit(with("provenance", elsewhere)).status, 200);
  EXPECT_EQ(submit(body).status, 200);
}

TEST_F(RestTest, SubmitRefusals) {
  const std::string sha256 = server_.upload("b");
  const auto post = [this](const std::string& body) {
    return status_and_code(server_.rest("POST", "/api/studies", body));
  };
  EXPECT_EQ(post("{"), "400 malformed");
  EXPECT_EQ(post("{}"), "422 missing_field");
  EXPECT_EQ(post(TestServer::spec(1, "k", missing_, 1)), "422 unknown_blob");
  EXPECT_EQ(post(TestServer::spec(1, "k", sha256, 2)), "422 bad_field");
  EXPECT_EQ(post(TestServer::spec(0, "k", sha256, 1)), "422 empty_space");
  EXPECT_EQ(post(std::string(600'000, ' ')), "413 body_too_large");
  EXPECT_EQ(json_at(server_.rest("GET", "/api/studies").body, "studies"), "[]");
}

TEST_F(RestTest, CancelEndsAStudy) {
  const std::string id = std::to_string(server_.submit(2));
  const auto cancelled = server_.rest("POST", "/api/studies/" + id + "/cancel");
  EXPECT_EQ(cancelled.status, 200);
  EXPECT_EQ(json_at(cancelled.body, "state"), "cancelled");
  EXPECT_EQ(server_.rest("POST", "/api/studies/" + id + "/cancel").status, 200);
}

TEST_F(RestTest, UnknownStudies) {
  for (const char* target :
       {"/api/studies/99", "/api/studies/abc", "/api/studies/-1", "/api/studies/99/trials",
        "/api/studies/99/trials/0", "/api/studies/9999999999999999999"}) {
    EXPECT_EQ(status_and_code(server_.rest("GET", target)), "404 unknown_study") << target;
  }
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/studies/99/cancel")), "404 unknown_study");
  const std::string id = std::to_string(server_.submit(2));
  EXPECT_EQ(status_and_code(server_.rest("GET", "/api/studies/" + id + "/trials/0")),
            "404 not_found");
  EXPECT_EQ(status_and_code(server_.rest("GET", "/api/studies/" + id + "/trials?limit=0")),
            "422 bad_number");
  EXPECT_EQ(status_and_code(server_.rest("GET", "/api/studies/" + id + "/trials?after=x")),
            "422 bad_number");
}

TEST_F(RestTest, AnEnrolmentCodeOpensTheProject) {
  const auto made = server_.rest("POST", "/api/enrolment");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string code = json_at(made.body, "code");
  EXPECT_EQ(json_at(made.body, "join_url"), server_.server().compute_origin() + "/join#" + code);
  server_.submit(4);
  const auto project =
      http_request(server_.compute(), "POST", "/api/project", {}, R"({"code":")" + code + "\"}");
  EXPECT_EQ(
      project.body,
      R"({"project":{"name":"First project","owner":"researcher","studies":1,"trials_done":0,"trials_total":4,"downloads":{"pieces":[],"studies":[]}}})");
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/enrolment", R"({"project":"other"})")),
            "422 bad_field");
}

TEST_F(RestTest, JoinRefusals) {
  const auto join = [this](const std::string& body) {
    return status_and_code(http_request(server_.compute(), "POST", "/api/join", {}, body));
  };
  EXPECT_EQ(join(R"({"code":"hfe_wrong","class":"phone","engine":"x"})"), "403 bad_enrolment_code");
  EXPECT_EQ(join(R"({"code":"hfe_wrong","class":"fridge","engine":"x"})"), "422 bad_field");
  EXPECT_EQ(join(R"({"code":"hfe_wrong"})"), "422 missing_field");
  EXPECT_EQ(join("["), "400 malformed");
  EXPECT_EQ(join(std::string(5'000, ' ')), "413 body_too_large");
  EXPECT_EQ(status_and_code(
                http_request(server_.compute(), "POST", "/api/project", {}, R"({"code":"no"})")),
            "403 bad_enrolment_code");
}

TEST_F(RestTest, JoinsAreRateLimited) {
  TestServer strict([](ServeConfig& config) {
    config.joins_burst = 2;
    config.joins_per_s = 0.001;
  });
  strict.join();
  strict.join();
  const std::string body = join_body(strict);
  const auto refused = http_request(strict.compute(), "POST", "/api/join", {}, body);
  EXPECT_EQ(status_and_code(refused), "429 rate_limited");
  // One join is allowed per 1,000 s after the first two. The answer says how long to wait.
  EXPECT_GT(std::stoi(refused.headers.at("retry-after")), 100);
  EXPECT_LE(std::stoi(refused.headers.at("retry-after")), 1'000);
}

TEST_F(RestTest, ADeviceReadsTheBlobsOfItsProjectOnly) {
  const std::string bundle(600'000, 'z');
  const std::string sha256 = server_.upload(bundle);
  const std::string unreferenced = server_.upload("nobody names this");
  ASSERT_EQ(
      server_.rest("POST", "/api/studies", TestServer::spec(1, "k", sha256, bundle.size())).status,
      201);
  const TestDevice device = server_.join();
  const auto get = [this](const std::string& blob, const std::string& authorization) {
    return http_request(server_.compute(), "GET", "/api/blobs/" + blob,
                        {{"Authorization", authorization}});
  };
  const std::string own = "Device " + device.id + ":" + device.secret;
  const auto answer = get(sha256, own);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, bundle);
  EXPECT_EQ(status_and_code(get(unreferenced, own)), "404 unknown_blob");
  EXPECT_EQ(status_and_code(get("../hyperflock.db", own)), "404 not_found");
  EXPECT_EQ(status_and_code(get("x", own)), "404 unknown_blob");
  for (const std::string& wrong :
       {std::string(), "Device " + device.id + ":wrong", std::string("Device x"),
        "Bearer " + server_.secrets().researcher_token}) {
    EXPECT_EQ(status_and_code(get(sha256, wrong)), "401 unauthorized") << wrong;
  }
}

TEST_F(RestTest, AStudyIsPausedAndResumed) {
  const std::string study = "/api/studies/" + std::to_string(server_.submit(2));
  EXPECT_EQ(json_at(server_.rest("POST", study + "/pause").body, "paused"), "true");
  EXPECT_EQ(json_at(server_.rest("POST", study + "/pause").body, "paused"), "true");
  EXPECT_EQ(json_at(server_.rest("GET", study).body, "state"), "running");
  const auto is_paused = [](const std::string& row) { return row.find("\"paused\"") != row.npos; };
  EXPECT_FALSE(is_paused(server_.rest("POST", study + "/resume").body));
  server_.rest("POST", study + "/pause");
  const auto ended = server_.rest("POST", study + "/cancel");
  EXPECT_EQ(json_at(ended.body, "state"), "cancelled");
  EXPECT_FALSE(is_paused(ended.body));
  EXPECT_EQ(json_at(server_.rest("POST", study + "/pause").body, "state"), "cancelled");
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/studies/999/pause")), "404 unknown_study");
}

TEST_F(RestTest, R61_AStudyGetsAnotherPriority) {
  const std::string study = "/api/studies/" + std::to_string(server_.submit(2));
  const auto has_priority = [](const std::string& row) {
    return row.find("\"priority\"") != row.npos;
  };
  EXPECT_FALSE(has_priority(server_.rest("GET", study).body));
  const auto give = [&](const std::string& to, const std::string& body) {
    return server_.rest("POST", to + "/priority", body);
  };
  EXPECT_EQ(json_at(give(study, R"({"priority":7})").body, "priority"), "7");
  EXPECT_EQ(json_at(server_.rest("GET", study).body, "priority"), "7");
  EXPECT_FALSE(has_priority(give(study, R"({"priority":0})").body));
  EXPECT_EQ(status_and_code(give(study, R"({"priority":101})")), "422 bad_number");
  EXPECT_EQ(status_and_code(give(study, R"({"priority":"high"})")), "422 bad_field");
  EXPECT_EQ(status_and_code(give(study, "{}")), "422 missing_field");
  EXPECT_EQ(status_and_code(give("/api/studies/999", R"({"priority":1})")), "404 unknown_study");
  const std::string& admin = server_.secrets().admin_token;
  const std::string log = server_.rest_as(admin, "GET", "/api/audit?after=0").body;
  EXPECT_NE(log.find(R"("study.priority")"), log.npos) << log;
}

TEST_F(RestTest, R64_FailedTrialsGetOtherCode) {
  const std::int64_t id = server_.submit(2);
  const std::string study = "/api/studies/" + std::to_string(id);
  const auto replay = [&](const nlohmann::json& code) {
    return server_.rest("POST", study + "/replay", nlohmann::json{{"code", code}}.dump());
  };
  const std::string sha256 = server_.upload("mended");
  const nlohmann::json bundle{{"sha256", sha256}, {"bytes", 6}};
  const nlohmann::json code{{"entry", "mended:objective"}, {"bundle", bundle}};
  EXPECT_EQ(status_and_code(replay(code)), "409 no_failed_trial");

  TestWorker worker(server_, server_.join());
  worker.send(TestWorker::failure(worker.await_lease().attempt));
  worker.receive<protocol::ResultAck>();
  ASSERT_TRUE(until([&] { return json_at(server_.rest("GET", study).body, "failed") == "1"; }));

  const auto with = [&code](const char* field, const nlohmann::json& value) {
    auto changed = code;
    changed[field] = value;
    return changed;
  };
  EXPECT_EQ(status_and_code(replay(nlohmann::json::object())), "422 missing_field");
  EXPECT_EQ(status_and_code(replay(with("entry", "nothing"))), "422 bad_field");
  EXPECT_EQ(status_and_code(replay(with("bundle", {{"sha256", missing_}, {"bytes", 6}}))),
            "422 unknown_blob");
  EXPECT_EQ(json_at(replay(with("bundle", {{"sha256", sha256}, {"bytes", 7}})).body, "error.field"),
            "code.bundle.bytes");
  const auto mended = replay(code);
  EXPECT_EQ(mended.status, 200) << mended.body;
  EXPECT_EQ(json_at(mended.body, "code_version"), "2");
  EXPECT_EQ(json_at(mended.body, "entry"), "mended:objective");
  EXPECT_EQ(json_at(mended.body, "failed"), "0");

  const protocol::Lease next = worker.await_lease();
  EXPECT_EQ(next.entry, "mended:objective");
  EXPECT_EQ(next.bundle.sha256, sha256);
  const std::string trial = server_.rest("GET", study + "/trials/0").body;
  EXPECT_EQ(json_at(trial, "code_version"), "2");
  EXPECT_EQ(json_at(trial, "attempts_list.0.code_version"), "1");

  EXPECT_EQ(json_at(server_.rest("GET", study + "/spec").body, "entry"), "mended:objective");
  const std::string first = server_.rest("GET", study + "/spec?code_version=1").body;
  EXPECT_EQ(json_at(first, "entry"), "module:function");
  const std::string before = json_at(first, "bundle.sha256");
  EXPECT_EQ(server_.rest("GET", study + "/blobs/" + before).status, 200);
  EXPECT_EQ(server_.rest("GET", study + "/blobs/" + sha256).body, "mended");
  EXPECT_EQ(status_and_code(server_.rest("GET", study + "/spec?code_version=3")), "404 not_found");
  EXPECT_EQ(status_and_code(server_.rest("GET", study + "/spec?code_version=x")), "422 bad_number");
}

TEST_F(RestTest, R65_AStudyGetsALargerSpace) {
  const std::string study = "/api/studies/" + std::to_string(server_.submit(2));
  const auto extend = [&](const nlohmann::json& values) {
    const nlohmann::json dimension{{"name", "x"}, {"values", values}};
    const nlohmann::json body{{"space", nlohmann::json::array({dimension})}};
    return server_.rest("POST", study + "/extend", body.dump());
  };
  const auto larger = extend({5, 1, 0});
  EXPECT_EQ(larger.status, 200) << larger.body;
  EXPECT_EQ(json_at(larger.body, "total"), "3");
  EXPECT_EQ(json_at(larger.body, "space"), R"([{"name":"x","values":[0,1,5]}])");
  EXPECT_EQ(extend({0, 1, 5}).status, 200);
  const auto lost = extend({0, 5, 6});
  EXPECT_EQ(status_and_code(lost), "409 space_changed");
  EXPECT_EQ(json_at(lost.body, "error.message"),
            "\"x\" has lost the value 1; an extended space keeps every name and every value of the "
            "study's space.");
  EXPECT_EQ(status_and_code(extend(nlohmann::json::array())), "422 empty_space");
  EXPECT_EQ(status_and_code(server_.rest("POST", study + "/extend", "{}")), "422 missing_field");
  EXPECT_EQ(json_at(server_.rest("GET", study + "/spec").body, "grown"), R"([{"values":[2]}])");
  const std::string asked = "/api/studies/" + std::to_string(server_.submit_asked("asked"));
  EXPECT_EQ(status_and_code(server_.rest("POST", asked + "/extend", "{}")), "409 not_a_grid");
  server_.rest("POST", study + "/cancel");
  EXPECT_EQ(status_and_code(extend({0, 1, 5, 6})), "409 study_cancelled");
}

TEST_F(RestTest, AStudysSpecAndBlobsAreItsOwnersToRead) {
  const std::string bundle(300'000, 'q');
  const std::string sha256 = server_.upload(bundle);
  const std::string unnamed = server_.upload("no study names this");
  const auto made =
      server_.rest("POST", "/api/studies", TestServer::spec(2, "k", sha256, bundle.size()));
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string study = "/api/studies/" + json_at(made.body, "study");
  const auto spec = server_.rest("GET", study + "/spec");
  EXPECT_EQ(spec.status, 200);
  EXPECT_EQ(json_at(spec.body, "bundle.sha256"), sha256);
  EXPECT_EQ(json_at(spec.body, "submit_key"), "k");
  EXPECT_EQ(json_at(spec.body, "limits.time_limit_ms"), "60000");
  const auto read = server_.rest("GET", study + "/blobs/" + sha256);
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body, bundle);
  for (const std::string& other : {unnamed, missing_, std::string("x")})
    EXPECT_EQ(status_and_code(server_.rest("GET", study + "/blobs/" + other)), "404 unknown_blob");
  // Another person's study gets the same answer as an unknown study.
  const auto person = server_.rest_as(server_.secrets().admin_token, "POST", "/api/researchers",
                                      R"({"name":"grace"})");
  ASSERT_EQ(person.status, 201) << person.body;
  const std::string token = json_at(person.body, "token");
  for (const std::string& address : {study + "/spec", study + "/blobs/" + sha256})
    EXPECT_EQ(status_and_code(server_.rest_as(token, "GET", address)), "404 unknown_study");
  EXPECT_EQ(server_.rest_as(server_.secrets().admin_token, "GET", study + "/spec").status, 200);
  const auto log = server_.rest_as(server_.secrets().admin_token, "GET", "/api/audit?limit=5000");
  EXPECT_NE(log.body.find(R"("action":"study.read")"), std::string::npos) << log.body;
}

TEST_F(RestTest, MethodsAndPaths) {
  const auto wrong_method = server_.rest("PUT", "/api/studies", "x");
  EXPECT_EQ(status_and_code(wrong_method), "405 method_not_allowed");
  EXPECT_EQ(wrong_method.headers.at("allow"), "POST, GET, HEAD");
  EXPECT_EQ(status_and_code(server_.rest("GET", "/nothing")), "404 not_found");
  EXPECT_EQ(status_and_code(http_request(server_.compute(), "GET", "/api/studies")),
            "404 not_found");
  EXPECT_EQ(status_and_code(http_request(server_.compute(), "DELETE", "/healthz")),
            "405 method_not_allowed");
  const auto root = http_request(server_.compute(), "GET", "/");
  EXPECT_EQ(root.status, 302);
  EXPECT_EQ(root.headers.at("location"), "/join");
  EXPECT_EQ(http_request(server_.console(), "GET", "/ws/client").status, 426);
}

TEST_F(RestTest, HealthAndMetrics) {
  EXPECT_EQ(http_request(server_.compute(), "GET", "/healthz").body, R"({"status":"ok"})");
  EXPECT_EQ(http_request(server_.console(), "GET", "/healthz").status, 200);
  EXPECT_EQ(http_request(server_.console(), "GET", "/readyz").status, 200);
  const auto metrics = http_request(server_.console(), "GET", "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.body.find("\nhyperflock_storage_synchronous 2"), std::string::npos)
      << metrics.body;
  EXPECT_NE(metrics.body.find("hyperflock_http_requests_total{status=\"2xx\"} 3"),
            std::string::npos)
      << metrics.body;
}

TEST_F(RestTest, MetricsNeedATokenWhereOthersCanReachThem) {
  TestServer open([](ServeConfig& config) {
    config.console = {"0.0.0.0", 0};
    config.insecure = true;
  });
  EXPECT_EQ(status_and_code(http_request(open.console(), "GET", "/metrics")), "401 unauthorized");
  EXPECT_EQ(open.rest("GET", "/metrics").status, 200);
}

TEST_F(RestTest, BadHttp) {
  const auto raw = [this](const std::string& bytes) {
    TestSocket socket(server_.console());
    return status_and_code(http_raw(socket, bytes));
  };
  EXPECT_EQ(raw("nonsense\r\n\r\n"), "400 bad_request");
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n"),
            "431 headers_too_large");
  const std::string token =
      "\r\nAuthorization: Bearer " + server_.secrets().researcher_token + "\r\n";
  EXPECT_EQ(raw("POST /api/studies HTTP/1.1\r\nHost: x" + token + "\r\n"), "411 length_required");
  EXPECT_EQ(raw("POST /api/studies HTTP/1.1\r\nHost: x" + token +
                "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            "411 length_required");
}

TEST_F(RestTest, KeepAliveServesOneAfterTheOther) {
  TestSocket socket(server_.console());
  for (int i = 0; i < 3; ++i) {
    const auto answer = http_raw(socket, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.at("connection"), "keep-alive");
  }
  EXPECT_EQ(
      http_raw(socket, "HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n").headers.at("content-length"),
      "15");
  EXPECT_EQ(http_raw(socket, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                .headers.at("connection"),
            "close");
  std::string rest;
  EXPECT_FALSE(socket.read_some(rest, kTestLimitMs));
}

TEST_F(RestTest, ExpectContinueIsAnswered) {
  const std::string bytes = "hello";
  TestSocket socket(server_.console());
  const std::string head = "PUT /api/blobs/" + blobs::sha256_hex(bytes) +
                           " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                           server_.secrets().researcher_token +
                           "\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
  ASSERT_TRUE(socket.write(head));
  std::string early;
  ASSERT_TRUE(socket.read_some(early, kTestLimitMs));
  EXPECT_EQ(early, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(http_raw(socket, bytes).status, 201);
}

TEST_F(RestTest, ConnectionsOfOneAddressAreLimited) {
  TestServer strict([](ServeConfig& config) { config.max_connections_per_address = 2; });
  TestSocket first(strict.console());
  EXPECT_EQ(http_raw(first, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  TestSocket second(strict.console());
  EXPECT_EQ(http_raw(second, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  TestSocket third(strict.console());
  EXPECT_EQ(status_and_code(http_raw(third, "")), "429 too_many_connections");
  // Connections are counted for each origin separately.
  EXPECT_EQ(http_request(strict.compute(), "GET", "/healthz").status, 200);
}

TEST(StaticPages, JoinPageScriptsAndRuntime) {
  ScratchFolder folder;
  std::filesystem::create_directories(folder.path() / "web/app");
  std::filesystem::create_directories(folder.path() / "runtime/pyodide-0123456789abcdef");
  std::ofstream(folder.file("web/join.html")) << "<!doctype html>";
  std::ofstream(folder.file("web/app/python-thread-x.js")) << "export {};";
  std::ofstream(folder.file("runtime/index.json")) << "{}";
  std::ofstream(folder.file("runtime/pyodide-0123456789abcdef/a.wasm")) << "plain";
  std::ofstream(folder.file("runtime/pyodide-0123456789abcdef/a.wasm.br")) << "brotli";
  TestServer server([&folder](ServeConfig& config) {
    config.app_dir = folder.file("web");
    config.runtime_dir = folder.file("runtime");
  });
  const auto page = http_request(server.compute(), "GET", "/join");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.headers.at("cross-origin-opener-policy"), "same-origin");
  EXPECT_EQ(page.headers.at("cross-origin-embedder-policy"), "require-corp");
  const auto thread = http_request(server.compute(), "GET", "/app/python-thread-x.js");
  EXPECT_EQ(
      thread.headers.at("content-security-policy"),
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src http://127.0.0.1:" +
          std::to_string(server.compute()) + "/runtime/; worker-src 'none'");
  EXPECT_EQ(thread.headers.at("cross-origin-embedder-policy"), "require-corp");
  EXPECT_EQ(
      http_request(server.compute(), "GET", "/app/python-thread-x.js", {{"Host", "a;b"}}).status,
      400);
  const std::string wasm = "/runtime/pyodide-0123456789abcdef/a.wasm";
  const auto compressed =
      http_request(server.compute(), "GET", wasm, {{"Accept-Encoding", "gzip, br"}});
  EXPECT_EQ(compressed.body, "brotli");
  EXPECT_EQ(compressed.headers.at("content-type"), "application/wasm");
  const auto same =
      http_request(server.compute(), "GET", wasm,
                   {{"Accept-Encoding", "br"}, {"If-None-Match", compressed.headers.at("etag")}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  EXPECT_EQ(http_request(server.compute(), "GET", "/runtime/../web/join.html").status, 404);
  EXPECT_EQ(http_request(server.console(), "GET", "/join").status, 404);
}

TEST(StaticPages, ResearchersPageIsServedAtItsOwnOriginAlone) {
  ScratchFolder folder;
  std::filesystem::create_directories(folder.path() / "web/app");
  std::filesystem::create_directories(folder.path() / "web/console/app");
  std::ofstream(folder.file("web/join.html")) << "<!doctype html>";
  std::ofstream(folder.file("web/app/agent-thread-x.js")) << "export {};";
  std::ofstream(folder.file("web/console/research.html")) << "<!doctype html>";
  std::ofstream(folder.file("web/console/app/research-x.js")) << "export {};";
  TestServer server([&folder](ServeConfig& config) { config.app_dir = folder.file("web"); });
  const auto get = [](std::uint16_t port, std::string_view path) {
    return http_request(port, "GET", path);
  };
  const auto root = get(server.console(), "/");
  EXPECT_EQ(root.status, 302);
  EXPECT_EQ(root.headers.at("location"), "/research");
  for (int i = 0; i < 2; ++i) {  // first from the disk, then from memory
    const auto page = get(server.console(), "/research");
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.headers.at("content-type"), "text/html; charset=utf-8");
    EXPECT_EQ(page.headers.at("cross-origin-opener-policy"), "same-origin");
    EXPECT_EQ(page.headers.at("content-security-policy"),
              "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
              "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  }
  const auto script = get(server.console(), "/app/research-x.js");
  EXPECT_EQ(script.status, 200);
  EXPECT_EQ(script.headers.at("cache-control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(get(server.console(), "/app/agent-thread-x.js").status, 404);
  EXPECT_EQ(get(server.console(), "/join").status, 404);
  EXPECT_EQ(get(server.compute(), "/research").status, 404);
  EXPECT_EQ(get(server.compute(), "/app/research-x.js").status, 404);
  EXPECT_EQ(get(server.compute(), "/console/research.html").status, 404);
  EXPECT_EQ(status_and_code(http_request(server.console(), "POST", "/research", {}, "{}")),
            "405 method_not_allowed");
}

TEST(StaticPages, AServerWithoutPagesSaysSo) {
  TestServer server;
  const auto page = http_request(server.console(), "GET", "/research");
  EXPECT_EQ(status_and_code(page), "404 not_found");
  EXPECT_NE(page.body.find("--app FOLDER"), std::string::npos);
}

}  // namespace
}  // namespace hyperflock::app
