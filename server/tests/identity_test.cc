// Tests people, tokens, projects, codes, devices, quotas and the audit log by REST with a running
// server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "auth/tokens.h"
#include "base/testing/patience.h"
#include "blobs/sha256.h"
#include "storage/testing/faulty_storage.h"
#include "storage/testing/scratch_database.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::http_request;
using net::HttpAnswer;
using net::TestWebSocket;

class Identity : public ::testing::Test {
 protected:
  HttpAnswer join(const std::string& code) const {
    const nlohmann::json body{{"code", code}, {"class", "phone"}, {"engine", "x"}};
    return http_request(server_.compute(), "POST", "/api/join", {}, body.dump());
  }
  HttpAnswer project(const std::string& code) const {
    return http_request(server_.compute(), "POST", "/api/project", {},
                        nlohmann::json{{"code", code}}.dump());
  }
  // Creates a researcher. Returns the answer of POST /api/researchers.
  std::string person(const std::string& body) const {
    const auto made = server_.admin("POST", "/api/researchers", body);
    EXPECT_EQ(made.status, 201) << made.body;
    return made.body;
  }
  // Returns an open session of /ws/client.
  std::unique_ptr<TestWebSocket> watcher(const std::string& token) const {
    auto socket = std::make_unique<TestWebSocket>(server_.console(), "/ws/client");
    socket->send(R"({"type":"hello","protocol":1,"role":"researcher","token":")" + token +
                 R"(","agent":"test"})");
    EXPECT_EQ(json_at(socket->receive_text(), "type"), "welcome");
    return socket;
  }
  HttpAnswer submit_as(const std::string& token, const std::string& key,
                       const std::string& project = {}, int trials = 2) const {
    const std::string bundle = "a bundle";
    const std::string sha256 = blobs::sha256_hex(bundle);
    server_.rest_as(token, "PUT", "/api/blobs/" + sha256, bundle);
    auto spec = nlohmann::json::parse(TestServer::spec(trials, key, sha256, bundle.size()));
    if (!project.empty()) spec["project"] = project;
    return server_.rest_as(token, "POST", "/api/studies", spec.dump());
  }
  // Returns the actions of the audit log, the oldest first.
  std::vector<std::string> actions() const {
    std::vector<std::string> all;
    const auto page = nlohmann::json::parse(server_.admin("GET", "/api/audit").body);
    for (const auto& entry : page.at("entries")) all.push_back(entry.at("action"));
    return all;
  }

  TestServer server_;
};

// ---- tokens

TEST_F(Identity, ARotatedTokenOpensForItsGraceAndTheNewOneAtOnce) {
  const auto rotated = server_.rest("POST", "/api/tokens/rotate", R"({"grace_s":600})");
  ASSERT_EQ(rotated.status, 201) << rotated.body;
  const std::string fresh = json_at(rotated.body, "token");
  EXPECT_EQ(server_.rest("GET", "/api/me").status, 200);
  EXPECT_EQ(json_at(server_.rest_as(fresh, "GET", "/api/me").body, "name"), "researcher");
  const auto tokens = nlohmann::json::parse(server_.rest_as(fresh, "GET", "/api/tokens").body);
  ASSERT_EQ(tokens.at("tokens").size(), 2U);  // only the caller's own tokens
  EXPECT_EQ(tokens.at("tokens")[0].at("token").dump(), json_at(rotated.body, "old.token"));
  EXPECT_EQ(tokens.at("tokens")[0].at("expires_at").dump(),
            json_at(rotated.body, "old.expires_at"));
  EXPECT_FALSE(tokens.at("tokens")[0].at("current").get<bool>());
  EXPECT_TRUE(tokens.at("tokens")[1].at("current").get<bool>());
  EXPECT_FALSE(tokens.at("tokens")[1].contains("expires_at"));
  server_.restart();
  EXPECT_EQ(server_.rest_as(fresh, "GET", "/api/me").status, 200);
  EXPECT_EQ(server_.rest("GET", "/api/me").status, 200);
}

TEST_F(Identity, ATokenRotatedWithoutGraceEndsWithItsConnections) {
  const auto socket = watcher(server_.secrets().researcher_token);
  const auto rotated = server_.rest("POST", "/api/tokens/rotate", R"({"grace_s":0})");
  ASSERT_EQ(rotated.status, 201);
  EXPECT_EQ(socket->wait_close(), 4004);
  EXPECT_EQ(status_and_code(server_.rest("GET", "/api/me")), "401 unauthorized");
  const auto again = watcher(json_at(rotated.body, "token"));
}

TEST_F(Identity, AConnectionEndsWhenItsTokensGraceIsOver) {
  const auto socket = watcher(server_.secrets().researcher_token);
  ASSERT_EQ(server_.rest("POST", "/api/tokens/rotate", R"({"grace_s":1})").status, 201);
  EXPECT_EQ(socket->wait_close(), 4004);
  EXPECT_EQ(status_and_code(server_.rest("GET", "/api/me")), "401 unauthorized");
}

TEST_F(Identity, ARevokedTokenEndsAtOnceAndNoOther) {
  const std::string id = json_at(person(R"({"name":"grace"})"), "researcher");
  const auto made = server_.admin("POST", "/api/tokens", R"({"researcher":)" + id + "}");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string token = json_at(made.body, "token");
  const auto ends = watcher(token);
  const auto stays = watcher(server_.secrets().researcher_token);
  const std::string target = "/api/tokens/" + json_at(made.body, "id") + "/revoke";
  // Another person's token gets the same answer as an unknown token.
  EXPECT_EQ(status_and_code(server_.rest("POST", target)), "404 unknown_token");
  EXPECT_EQ(server_.admin("POST", target).status, 200);
  EXPECT_EQ(server_.admin("POST", target).status, 200);  // the same request again
  EXPECT_EQ(ends->wait_close(), 4004);
  EXPECT_EQ(status_and_code(server_.rest_as(token, "GET", "/api/me")), "401 unauthorized");
  stays->send(R"({"type":"watch","study":99,"after":0})");
  EXPECT_EQ(json_at(stays->receive_text(), "code"), "unknown_study");
  server_.restart();
  EXPECT_EQ(status_and_code(server_.rest_as(token, "GET", "/api/me")), "401 unauthorized");
}

TEST_F(Identity, ATokenWithAnEndIsTold) {
  const std::string id = json_at(person(R"({"name":"grace"})"), "researcher");
  const auto made =
      server_.admin("POST", "/api/tokens", R"({"researcher":)" + id + R"(,"expires_s":3600})");
  const std::int64_t created =
      std::stoll(json_at(server_.admin("GET", "/api/tokens").body, "tokens.3.created_at"));
  EXPECT_NEAR(std::stod(json_at(made.body, "expires_at")), static_cast<double>(created) + 3.6e6,
              60'000);
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/tokens", R"({"researcher":99})")),
            "404 unknown_researcher");
}

TEST_F(Identity, TheLastWayInForAnAdministratorStays) {
  const auto tokens = nlohmann::json::parse(server_.admin("GET", "/api/tokens").body).at("tokens");
  std::string mine;
  std::string me;
  for (const auto& token : tokens) {
    if (!token.at("current").get<bool>()) continue;
    mine = token.at("token").dump();
    me = token.at("researcher").dump();
  }
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/tokens/" + mine + "/revoke")),
            "409 last_admin");
  EXPECT_EQ(
      status_and_code(server_.admin("POST", "/api/researchers/" + me, R"({"state":"suspended"})")),
      "409 last_admin");
  const std::string second = json_at(person(R"({"name":"second","role":"admin"})"), "token");
  EXPECT_EQ(server_.rest_as(second, "POST", "/api/tokens/" + mine + "/revoke").status, 200);
  EXPECT_EQ(status_and_code(server_.admin("GET", "/api/me")), "401 unauthorized");
}

// ---- people

TEST_F(Identity, SomebodyAsksAndIsLetIn) {
  const auto asked = http_request(server_.console(), "POST", "/api/register", net::kJson,
                                  R"({"name":"grace","note":"of the Aoki Lab"})");
  ASSERT_EQ(asked.status, 202) << asked.body;
  const std::string token = json_at(asked.body, "token");
  EXPECT_EQ(json_at(asked.body, "state"), "pending");
  EXPECT_EQ(status_and_code(server_.rest_as(token, "GET", "/api/me")), "403 approval_pending");
  TestWebSocket socket(server_.console(), "/ws/client");
  socket.send(R"({"type":"hello","protocol":1,"role":"researcher","token":")" + token +
              R"(","agent":"test"})");
  EXPECT_EQ(json_at(socket.receive_text(), "code"), "bad_token");
  EXPECT_EQ(status_and_code(http_request(server_.console(), "POST", "/api/register", net::kJson,
                                         R"({"name":"grace"})")),
            "409 name_taken");

  const std::string person = "/api/researchers/" + json_at(asked.body, "researcher");
  EXPECT_EQ(status_and_code(server_.rest("POST", person, R"({"state":"active"})")),
            "403 forbidden");
  const auto approved =
      server_.admin("POST", person, R"({"state":"active","quota":{"studies":3}})");
  EXPECT_EQ(approved.status, 200) << approved.body;
  EXPECT_EQ(json_at(approved.body, "note"), "of the Aoki Lab");
  EXPECT_EQ(json_at(approved.body, "projects"), R"(["First project"])");
  const auto me = server_.rest_as(token, "GET", "/api/me");
  EXPECT_EQ(json_at(me.body, "name"), "grace");
  EXPECT_EQ(json_at(me.body, "quota"), R"({"bytes":10737418240,"studies":3,"trials":1000000})");
  EXPECT_EQ(submit_as(token, "k").status, 201);

  const auto open = watcher(token);
  EXPECT_EQ(server_.admin("POST", person, R"({"state":"suspended"})").status, 200);
  EXPECT_EQ(open->wait_close(), 4004);
  EXPECT_EQ(status_and_code(server_.rest_as(token, "GET", "/api/me")), "403 suspended");
  server_.restart();
  EXPECT_EQ(status_and_code(server_.rest_as(token, "GET", "/api/me")), "403 suspended");
  EXPECT_EQ(server_.admin("POST", person, R"({"state":"active"})").status, 200);
  EXPECT_EQ(json_at(server_.rest_as(token, "GET", "/api/studies").body, "studies.0.owner"),
            "grace");
  const auto back = watcher(token);
}

TEST_F(Identity, RequestsAreLimited) {
  const auto ask = [](const TestServer& server, const std::string& name) {
    return status_and_code(http_request(server.console(), "POST", "/api/register", net::kJson,
                                        R"({"name":")" + name + "\"}"));
  };
  TestServer closed([](ServeConfig& config) { config.open_registration = false; });
  EXPECT_EQ(ask(closed, "grace"), "403 registration_closed");
  std::string last;
  for (int i = 0; i < 10'000 && last != "429 rate_limited"; ++i)
    last = ask(server_, "n" + std::to_string(i));
  EXPECT_EQ(last, "429 rate_limited");
  for (const char* name : {"", " x", "x ", R"(a\nb)"}) {
    TestServer fresh;
    EXPECT_EQ(ask(fresh, name), "422 bad_name") << name;
  }
}

std::string named(const std::string& field, const std::string& name) {
  return nlohmann::json{{field, name}}.dump();
}

TEST_F(Identity, NamesArePlainText) {
  for (const std::string hidden :
       {"\u202egrace", "gra\u200bce", "gra\u0007ce", "grace\u2066", ""}) {
    for (const auto& [path, field] : {std::pair{"/api/researchers", "name"},
                                      {"/api/projects", "project"},
                                      {"/api/enrolment", "label"}}) {
      const auto refused = server_.admin("POST", path, named(field, hidden));
      EXPECT_EQ(status_and_code(refused), "422 bad_name") << path << ' ' << hidden;
      EXPECT_EQ(json_at(refused.body, "error.field"), field);
    }
    EXPECT_EQ(status_and_code(http_request(server_.console(), "POST", "/api/register", net::kJson,
                                           named("name", hidden))),
              "422 bad_name");
  }
  EXPECT_EQ(status_and_code(http_request(server_.console(), "POST", "/api/register", net::kJson,
                                         R"({"name":"grace","note":"of \u202e"})")),
            "422 bad_name");
  EXPECT_EQ(
      json_at(server_.admin("POST", "/api/projects", named("project", "か\u3099っこう　鳥")).body,
              "project"),
      "がっこう　鳥");
  EXPECT_EQ(
      status_and_code(server_.admin("POST", "/api/projects", named("project", "がっこう　鳥"))),
      "409 name_taken");
}

TEST_F(Identity, NobodyGetsANameThatLooksLikeAnAdministrators) {
  for (const char* name : {"аdmin" /* Cyrillic a */, "ADMIN", "ａｄｍｉｎ", "adm\u0131n", "αdmin",
                           "server", "Sеrver" /* Cyrillic e */}) {
    EXPECT_EQ(status_and_code(http_request(server_.console(), "POST", "/api/register", net::kJson,
                                           named("name", name))),
              "409 name_confusable")
        << name;
    EXPECT_EQ(status_and_code(server_.admin("POST", "/api/researchers", named("name", name))),
              "409 name_confusable")
        << name;
  }
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/researchers", named("name", "admin"))),
            "409 name_taken");
  // A new administrator's name must not look like that of any other person.
  person(R"({"name":"grace"})");
  EXPECT_EQ(status_and_code(
                server_.admin("POST", "/api/researchers", R"({"name":"Grace","role":"admin"})")),
            "409 name_confusable");
  EXPECT_EQ(server_.admin("POST", "/api/researchers", named("name", "山田 太郎")).status, 201);
}

TEST_F(Identity, PeopleAreChangedByTheAdministratorAlone) {
  const std::string made = person(R"({"name":"grace","quota":{"trials":5},"projects":[]})");
  const std::string target = "/api/researchers/" + json_at(made, "researcher");
  EXPECT_EQ(status_and_code(server_.admin("POST", target, R"({"projects":["moon"]})")),
            "422 bad_field");
  EXPECT_EQ(status_and_code(server_.admin("POST", target, R"({"state":"pending"})")),
            "422 bad_field");
  EXPECT_EQ(status_and_code(server_.admin("POST", target, R"({"quota":{"studies":-1}})")),
            "422 bad_number");
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/researchers/99", "{}")),
            "404 unknown_researcher");
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/researchers", R"({"name":"grace"})")),
            "409 name_taken");
  // A researcher without a project cannot submit a study.
  EXPECT_EQ(status_and_code(submit_as(json_at(made, "token"), "k")), "403 forbidden");
  const auto list = nlohmann::json::parse(server_.admin("GET", "/api/researchers").body);
  ASSERT_EQ(list.at("researchers").size(), 3U);
  EXPECT_EQ(list.at("researchers")[2].at("quota").at("trials"), 5);
}

TEST_F(Identity, TheListOfPeopleSaysWhatEachUses) {
  const std::string grace =
      json_at(person(R"({"name":"grace","quota":{"bytes":1000000000}})"), "token");
  EXPECT_EQ(submit_as(grace, "k").status, 201);
  const auto list = nlohmann::json::parse(server_.admin("GET", "/api/researchers").body);
  EXPECT_GT(list.at("room").get<std::int64_t>(), 0);
  const auto& row = list.at("researchers")[2];
  const auto hers = nlohmann::json::parse(server_.rest_as(grace, "GET", "/api/me").body);
  EXPECT_EQ(row.at("used"), hers.at("used"));
  EXPECT_EQ(row.at("stored"), hers.at("stored"));
  EXPECT_EQ(row.at("used").at("studies"), 1);
  EXPECT_GT(row.at("stored").at("records").get<std::int64_t>(), 0);
  EXPECT_EQ(row.at("stored").at("most_records"), 250'000'000);
  EXPECT_EQ(list.at("researchers")[1].at("used").at("studies"), 0);
}

// ---- projects and codes

TEST_F(Identity, ProjectsKeepResearchersAndDevicesApart) {
  ASSERT_EQ(server_.admin("POST", "/api/projects", R"({"project":"Birds"})").status, 201);
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/projects", R"({"project":"Birds"})")),
            "409 name_taken");
  const std::string grace = json_at(person(R"({"name":"grace","projects":["Birds"]})"), "token");
  const auto hers =
      nlohmann::json::parse(server_.rest_as(grace, "GET", "/api/projects").body).at("projects");
  ASSERT_EQ(hers.size(), 1U);
  EXPECT_EQ(hers[0].at("id"), 2);
  EXPECT_EQ(hers[0].at("project"), "Birds");
  EXPECT_EQ(hers[0].at("devices"), 0);
  EXPECT_EQ(hers[0].at("researchers").dump(), R"(["grace"])");
  EXPECT_EQ(nlohmann::json::parse(server_.admin("GET", "/api/projects").body).at("projects").size(),
            2U);
  EXPECT_EQ(status_and_code(submit_as(grace, "k", "First project")), "422 bad_field");
  EXPECT_EQ(status_and_code(submit_as(grace, "k", "Moon")), "422 bad_field");
  const auto study = submit_as(grace, "k");
  EXPECT_EQ(json_at(study.body, "project"), "Birds");
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/enrolment", R"({"project":"Birds"})")),
            "422 bad_field");

  const auto code = server_.rest_as(grace, "POST", "/api/enrolment");
  ASSERT_EQ(code.status, 201) << code.body;
  const auto joined = join(json_at(code.body, "code"));
  EXPECT_EQ(json_at(joined.body, "project"), "Birds");
  TestWorker bird(server_, {json_at(joined.body, "device"), json_at(joined.body, "secret")});
  TestWorker other(server_, server_.join());
  EXPECT_EQ(bird.ready().owner, "grace");
  other.send(protocol::Ready{});
  EXPECT_EQ(other.receive<protocol::Wait>().reason, protocol::WaitReason::no_work);
  const auto workers = [this](const std::string& token) {
    return nlohmann::json::parse(server_.rest_as(token, "GET", "/api/workers").body)
        .at("workers")
        .size();
  };
  EXPECT_EQ(workers(grace), 1U);
  EXPECT_EQ(workers(server_.secrets().researcher_token), 1U);
  EXPECT_EQ(workers(server_.secrets().admin_token), 2U);
}

TEST_F(Identity, TheSameKeyInAnotherProjectIsOtherContent) {
  server_.admin("POST", "/api/projects", R"({"project":"Birds"})");
  const std::string token =
      json_at(person(R"({"name":"grace","projects":["Birds","First project"]})"), "token");
  EXPECT_EQ(json_at(submit_as(token, "k").body, "project"), "First project");
  EXPECT_EQ(submit_as(token, "k", "First project").status, 200);
  EXPECT_EQ(status_and_code(submit_as(token, "k", "Birds")), "409 study_exists");
}

TEST_F(Identity, ACodeTakesSoManyDevicesAndThoseStay) {
  const auto made = server_.rest("POST", "/api/enrolment", R"({"max_uses":1,"label":"poster"})");
  ASSERT_EQ(made.status, 201) << made.body;
  const std::string code = json_at(made.body, "code");
  EXPECT_EQ(json_at(made.body, "max_uses"), "1");
  const auto joined = join(code);
  EXPECT_EQ(joined.status, 201);
  EXPECT_EQ(status_and_code(join(code)), "403 bad_enrolment_code");
  // The code is used up, but a device that joined with it can still open the page.
  EXPECT_EQ(project(code).status, 200);
  TestWorker worker(server_, {json_at(joined.body, "device"), json_at(joined.body, "secret")});

  const auto list = nlohmann::json::parse(server_.rest("GET", "/api/enrolment").body);
  ASSERT_EQ(list.at("enrolments").size(), 2U);
  const auto row = list.at("enrolments")[1];
  EXPECT_EQ(row.at("state"), "used_up");
  EXPECT_EQ(row.at("uses"), 1);
  EXPECT_EQ(row.at("label"), "poster");
  EXPECT_EQ(row.at("created_by"), "researcher");
  EXPECT_EQ(row.dump().find("hash"), std::string::npos);
  EXPECT_EQ(row.dump().find(code), std::string::npos);
  server_.restart();
  EXPECT_EQ(status_and_code(join(code)), "403 bad_enrolment_code");
}

TEST_F(Identity, ACodeEndsByTimeAndByHand) {
  const auto brief = server_.rest("POST", "/api/enrolment", R"({"expires_s":1})");
  const std::string code = json_at(brief.body, "code");
  EXPECT_TRUE(until([&] { return status_and_code(join(code)) == "403 bad_enrolment_code"; }));

  const auto made = server_.rest("POST", "/api/enrolment");
  const std::string target = "/api/enrolment/" + json_at(made.body, "enrolment") + "/revoke";
  EXPECT_EQ(join(json_at(made.body, "code")).status, 201);
  EXPECT_EQ(server_.rest("POST", target).status, 200);
  EXPECT_EQ(server_.rest("POST", target).status, 200);
  EXPECT_EQ(status_and_code(join(json_at(made.body, "code"))), "403 bad_enrolment_code");
  EXPECT_EQ(status_and_code(project(json_at(made.body, "code"))), "403 bad_enrolment_code");
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/enrolment/99/revoke")),
            "404 unknown_enrolment");
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/enrolment", R"({"project":""})")),
            "422 bad_field");
  const std::string stranger = json_at(person(R"({"name":"grace","projects":[]})"), "token");
  EXPECT_EQ(status_and_code(server_.rest_as(stranger, "POST", target)), "404 unknown_enrolment");
  EXPECT_EQ(status_and_code(server_.rest_as(stranger, "POST", "/api/enrolment")), "403 forbidden");
}

// ---- quotas

TEST_F(Identity, AQuotaRefusesWithItsFiguresAndLosesNothing) {
  const std::string made = person(R"({"name":"grace","quota":{"studies":1,"trials":10}})");
  const std::string token = json_at(made, "token");
  const auto first = submit_as(token, "a");
  ASSERT_EQ(first.status, 201) << first.body;
  const auto second = submit_as(token, "b");
  EXPECT_EQ(status_and_code(second), "403 quota_exceeded");
  EXPECT_EQ(json_at(second.body, "error.field"), "studies");
  EXPECT_NE(json_at(second.body, "error.message").find("1 in use, 1 more asked for, 1 allowed"),
            std::string::npos)
      << second.body;
  EXPECT_EQ(submit_as(token, "a").status, 200);  // the same submission again
  EXPECT_EQ(json_at(server_.rest_as(token, "GET", "/api/me").body, "used"),
            R"({"bytes":8,"studies":1,"trials":2})");

  server_.rest_as(token, "POST", "/api/studies/" + json_at(first.body, "study") + "/cancel");
  EXPECT_EQ(submit_as(token, "b").status, 201);
  server_.admin("POST", "/api/researchers/" + json_at(made, "researcher"),
                R"({"quota":{"studies":5,"trials":10}})");
  const auto large = submit_as(token, "c", {}, 9);
  EXPECT_EQ(json_at(large.body, "error.field"), "trials");
  EXPECT_EQ(submit_as(token, "c", {}, 8).status, 201);
}

TEST_F(Identity, R33_AReissueOfAFinishedStudyCountsAsASubmission) {
  const std::string made = person(R"({"name":"grace","quota":{"studies":1,"trials":10}})");
  const std::string token = json_at(made, "token");
  const std::string first = json_at(submit_as(token, "a", {}, 1).body, "study");
  const std::string path = "/api/studies/" + first;
  TestWorker worker(server_, server_.join());
  worker.send(TestWorker::failure(worker.ready().attempt));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::recorded);
  ASSERT_TRUE(server_.reaches(std::stoll(first), "finished"));
  const std::string second = json_at(submit_as(token, "b").body, "study");

  const auto refused = server_.rest_as(token, "POST", path + "/replay");
  EXPECT_EQ(status_and_code(refused), "403 quota_exceeded");
  EXPECT_EQ(json_at(refused.body, "error.field"), "studies");
  EXPECT_EQ(json_at(server_.rest_as(token, "GET", path).body, "failed"), "1");
  server_.rest_as(token, "POST", "/api/studies/" + second + "/cancel");
  const auto row = server_.rest_as(token, "POST", path + "/replay");
  EXPECT_EQ(json_at(row.body, "state"), "running") << row.body;
  EXPECT_EQ(server_.rest_as(token, "POST", path + "/replay").status, 200);  // it is already running
  worker.send(TestWorker::result(worker.ready().attempt, 0.5));
  EXPECT_EQ(worker.receive<protocol::ResultAck>().verdict, protocol::Verdict::accepted);
}

TEST_F(Identity, BytesAreCountedWhenTheyCome) {
  const std::string token = json_at(person(R"({"name":"grace","quota":{"bytes":100}})"), "token");
  const auto put = [&](const std::string& bytes) {
    return server_.rest_as(token, "PUT", "/api/blobs/" + blobs::sha256_hex(bytes), bytes);
  };
  EXPECT_EQ(put(std::string(60, 'a')).status, 201);
  EXPECT_EQ(put(std::string(60, 'a')).status, 200);  // the same bytes count once
  const auto refused = put(std::string(41, 'b'));
  EXPECT_EQ(status_and_code(refused), "403 quota_exceeded");
  EXPECT_EQ(json_at(refused.body, "error.field"), "bytes");
  EXPECT_EQ(server_.rest("HEAD", "/api/blobs/" + blobs::sha256_hex(std::string(41, 'b'))).status,
            404);  // no part of it was kept
  EXPECT_EQ(put(std::string(40, 'b')).status, 201);
  EXPECT_EQ(json_at(server_.rest_as(token, "GET", "/api/me").body, "used.bytes"), "100");
  // A study cannot name blobs of another person (R69). So a person whose quota is full cannot use
  // them either.
  server_.upload("a bundle");
  EXPECT_EQ(status_and_code(submit_as(token, "k")), "422 unknown_blob");
}

// ---- devices

TEST_F(Identity, AVolunteerHasTheDeviceForgotten) {
  const std::int64_t study = server_.submit(2);
  const TestDevice device = server_.join();
  const std::string path = "/api/studies/" + std::to_string(study);
  TestWorker worker(server_, device);
  worker.send(TestWorker::result(worker.ready().attempt, 0.5));
  worker.receive<protocol::ResultAck>();
  const auto running = worker.ready();
  ASSERT_EQ(json_at(server_.rest("GET", path + "/trials/0").body, "device.device"), device.id);

  const net::Headers own{{"Authorization", "Device " + device.id + ":" + device.secret}};
  const auto erased = http_request(server_.compute(), "POST", "/api/device/erase", own, "{}");
  EXPECT_EQ(erased.status, 200) << erased.body;
  EXPECT_EQ(worker.receive<protocol::Revoke>().attempt, running.attempt);
  EXPECT_EQ(worker.socket().wait_close(), 4003);
  for (const char* trial : {"/trials/0", "/trials/1"}) {
    const auto row = server_.rest("GET", path + trial).body;
    EXPECT_EQ(row.find(device.id), std::string::npos) << row;
    EXPECT_EQ(json_at(row, "device"), R"({"backend":)" +
                                          std::string(trial[8] == '0' ? R"("cpu")" : R"("")") +
                                          R"(,"class":"","device":"erased","engine":""})");
  }
  EXPECT_EQ(json_at(server_.rest("GET", path + "/trials/0").body, "values"), "[0.5]");
  // The server no longer knows the erased device.
  EXPECT_EQ(
      status_and_code(http_request(server_.compute(), "POST", "/api/device/erase", own, "{}")),
      "401 unauthorized");
  TestWorker again(server_);
  again.send(TestWorker::hello(device));
  EXPECT_EQ(again.receive<protocol::Refused>().code, "bad_token");
  EXPECT_EQ(server_.admin("GET", "/api/audit").body.find(device.id), std::string::npos);
  EXPECT_THAT(actions(), testing::Contains("device.erase"));
  // The trial of the erased device is issued again.
  EXPECT_EQ(to_int(TestWorker(server_, server_.join()).ready().trial), to_int(running.trial));
}

TEST_F(Identity, ARevokedDeviceMayStillBeForgotten) {
  const TestDevice device = server_.join();
  EXPECT_EQ(server_.admin("POST", "/api/devices/" + device.id + "/revoke").status, 200);
  const net::Headers own{{"Authorization", "Device " + device.id + ":" + device.secret}};
  EXPECT_EQ(http_request(server_.compute(), "POST", "/api/device/erase", own, "{}").status, 200);
  EXPECT_EQ(status_and_code(server_.admin("POST", "/api/devices/" + device.id + "/erase")),
            "404 unknown_device");
  const TestDevice other = server_.join();
  EXPECT_EQ(status_and_code(server_.rest("POST", "/api/devices/" + other.id + "/erase")),
            "403 forbidden");
  EXPECT_EQ(server_.admin("POST", "/api/devices/" + other.id + "/erase").status, 200);
  server_.restart();
  TestWorker gone(server_);
  gone.send(TestWorker::hello(other));
  EXPECT_EQ(gone.receive<protocol::Refused>().code, "bad_token");
}

// ---- the audit log

TEST_F(Identity, TheAuditLogSaysWhoDidWhatFromWhere) {
  const std::int64_t study = server_.submit(1);
  const std::string path = "/api/studies/" + std::to_string(study);
  server_.rest("POST", path + "/cancel");
  server_.rest("POST", "/api/enrolment", "{}");
  const std::string id = json_at(person(R"({"name":"grace"})"), "researcher");
  server_.admin("POST", "/api/researchers", R"({"name":"grace"})");  // refused, so not in the log
  server_.admin("POST", "/api/researchers/" + id, R"({"quota":{"studies":2}})");
  server_.admin("POST", "/api/devices/d_nobody/revoke");
  EXPECT_THAT(actions(), testing::ElementsAre("study.submit", "study.cancel", "enrolment.create",
                                              "researcher.create", "researcher.update"));
  const auto entries = nlohmann::json::parse(server_.admin("GET", "/api/audit").body).at("entries");
  EXPECT_EQ(entries[0].at("actor"), "researcher");
  EXPECT_EQ(entries[0].at("object"), std::to_string(study));
  EXPECT_EQ(entries[0].at("address"), "127.0.0.1");
  EXPECT_EQ(entries[4].at("actor"), "admin");
  EXPECT_EQ(entries[4].at("object"), "grace");
  EXPECT_EQ(entries[4].at("detail").at("quota").at("studies"), 2);
  EXPECT_GT(entries[4].at("at"), 1'600'000'000'000);

  const auto page =
      server_.admin("GET", "/api/audit?after=" + entries[1].at("id").dump() + "&limit=2");
  EXPECT_EQ(json_at(page.body, "entries.0.action"), "enrolment.create");
  EXPECT_EQ(json_at(page.body, "cursor"), entries[3].at("id").dump());
  EXPECT_EQ(json_at(server_.admin("GET", "/api/audit?after=99").body, "cursor"), "99");
  EXPECT_EQ(status_and_code(server_.admin("GET", "/api/audit?limit=0")), "422 bad_number");
  EXPECT_EQ(status_and_code(server_.admin("GET", "/api/audit?after=x")), "422 bad_number");

  const auto lines = server_.admin("GET", "/api/audit/export?after=" + entries[3].at("id").dump());
  EXPECT_EQ(lines.headers.at("content-type"), "application/x-ndjson");
  EXPECT_EQ(nlohmann::json::parse(lines.body), entries[4]);
  EXPECT_EQ(lines.body.back(), '\n');
  server_.restart();
  EXPECT_THAT(actions(), testing::SizeIs(5));
}

TEST_F(Identity, NoSecretStandsInTheAuditLogOrInALists) {
  server_.rest("POST", "/api/tokens/rotate", "{}");
  const std::string grace = person(R"({"name":"grace"})");
  const auto code = server_.rest("POST", "/api/enrolment");
  for (const char* target :
       {"/api/audit", "/api/audit/export", "/api/tokens", "/api/researchers", "/api/enrolment"}) {
    const std::string body = server_.admin("GET", target).body;
    for (const char* prefix : {"hfa_", "hfr_", "hfe_", "hfd_"})
      EXPECT_EQ(body.find(prefix), std::string::npos) << target;
    EXPECT_EQ(body.find(auth::token_hash(json_at(grace, "token"))), std::string::npos) << target;
  }
}

// A change that is not committed has no effect and is not in the audit log.
TEST(IdentityTrouble, AFailedChangeLeavesNothing) {
  const storage::ScratchDatabase database;
  auto faulty = std::make_unique<storage::FaultyStorage>(database.open());
  storage::FaultyStorage* storage = faulty.get();
  TestServer server({}, std::move(faulty));
  storage->script({storage::FailBefore{}});
  const std::string& token = server.secrets().admin_token;
  EXPECT_EQ(
      status_and_code(server.rest_as(token, "POST", "/api/projects", R"({"project":"Birds"})")),
      "503 storage_unavailable");
  EXPECT_TRUE(
      until([&] { return http_request(server.console(), "GET", "/readyz").status == 200; }));
  EXPECT_EQ(json_at(server.rest_as(token, "GET", "/api/audit").body, "entries"), "[]");
  EXPECT_EQ(server.rest_as(token, "POST", "/api/projects", R"({"project":"Birds"})").status, 201);
}

}  // namespace
}  // namespace hyperflock::app
