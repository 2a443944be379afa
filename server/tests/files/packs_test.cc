// Tests the packs of studies: which of them a study gets, what a device learns of them, and what a
// server does whose list of packs cannot be used.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/config.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using net::http_request;

const std::string kCode = "PK hyperflock needs scikit-learn";
const std::string kRuntime(64, 'a');

class Packs : public ::testing::Test {
 protected:
  Packs() {
    std::filesystem::create_directories(folder_.path() / "packs");
    std::filesystem::create_directories(folder_.path() / "runtime");
    std::ofstream(folder_.file("runtime/index.json"))
        << R"({"runtime":")" << kRuntime
        << R"(","pieces":{"pyodide":{"version":"314.0.3"},"chainer-7.8.1":{"version":"7.8.1"}}})";
    write_list("314.0.3");
  }

  void write_list(const std::string& pyodide) const {
    const auto entry = [](const std::string& name, int bytes, const nlohmann::json& needs) {
      return nlohmann::json{{"version", "1." + std::to_string(bytes)},
                            {"base", "/runtime/" + name + "-0123456789abcdef/"},
                            {"files", {{{"name", name + ".zip"}, {"bytes", 99}, {"br", bytes}}}},
                            {"needs", needs}};
    };
    std::ofstream(folder_.file("packs/packs.json"))
        << nlohmann::json{{"pyodide", pyodide},
                          {"packs",
                           {{"scipy", entry("scipy", 8, nlohmann::json::array())},
                            {"scikit-learn", entry("scikit-learn", 2, {"scipy"})}}}};
  }

  std::function<void(ServeConfig&)> with_packs() const {
    return [this](ServeConfig& config) {
      config.packs_dir = folder_.file("packs");
      config.runtime_dir = folder_.file("runtime");
    };
  }

  // Returns a spec with this code. `packs` is its list; null if it has none.
  static std::string spec(const TestServer& server, const std::string& key, const std::string& code,
                          const nlohmann::json& packs = nullptr) {
    auto spec = nlohmann::json::parse(TestServer::spec(2, key, server.upload(code), code.size()));
    if (!packs.is_null()) spec["packs"] = packs;
    return spec.dump();
  }

  static std::string answer_to(const TestServer& server, const std::string& spec) {
    const auto answer = server.rest("POST", "/api/studies", spec);
    return answer.status == 201 ? "201" : std::to_string(answer.status) + ' ' + code_of(answer);
  }

  static nlohmann::json packs_of(const TestServer& server, int study) {
    const auto answer = server.rest("GET", "/api/studies/" + std::to_string(study) + "/spec");
    return nlohmann::json::parse(answer.body).value("packs", nlohmann::json());
  }

  const ScratchFolder folder_;
  const nlohmann::json own_{{{"name", "scikit-learn"}, {"version", "1.2"}}};
};

TEST_F(Packs, R76_StudyListsThePacksOfItsBundle) {
  const TestServer server(with_packs());
  EXPECT_EQ(answer_to(server, spec(server, "a", kCode, own_)), "201");
  EXPECT_EQ(packs_of(server, 1), own_);
  // An older client lists none. With the same key, the study is the same one.
  EXPECT_EQ(answer_to(server, spec(server, "b", kCode)), "201");
  EXPECT_EQ(packs_of(server, 2), own_);
  EXPECT_EQ(server.rest("POST", "/api/studies", spec(server, "b", kCode, own_)).status, 200);
  EXPECT_EQ(answer_to(server, spec(server, "c", "PK")), "201");
  EXPECT_TRUE(packs_of(server, 3).is_null());
}

TEST_F(Packs, R76_WhatDoesNotFitIsRefused) {
  const TestServer server(with_packs());
  const nlohmann::json later{{{"name", "scikit-learn"}, {"version", "2.0"}}};
  EXPECT_EQ(answer_to(server, spec(server, "a", "PK", own_)), "422 pack_mismatch");
  EXPECT_EQ(answer_to(server, spec(server, "a", kCode, later)), "422 runtime_mismatch");
  EXPECT_EQ(answer_to(server, spec(server, "a", kCode + " pandas")), "422 missing_pack");
  EXPECT_EQ(server.rest("GET", "/api/studies/1").status, 404);
}

TEST_F(Packs, R76_LeaseListsThemAndTheJoinPageCountsThem) {
  const TestServer server(with_packs());
  ASSERT_EQ(answer_to(server, spec(server, "a", kCode, own_)), "201");
  TestWorker worker(server, server.join());
  const auto lease = worker.ready();
  ASSERT_EQ(lease.packs.size(), 1U);
  EXPECT_EQ(lease.packs[0], (protocol::PackRef{"scikit-learn", "1.2"}));
  const auto made = nlohmann::json::parse(server.rest("POST", "/api/enrolment").body);
  const auto project =
      http_request(server.compute(), "POST", "/api/project", {{"Accept-Encoding", "br"}},
                   nlohmann::json{{"code", made.at("code")}}.dump());
  std::int64_t bytes = 0;
  for (const auto& piece :
       nlohmann::json::parse(project.body).at("project").at("downloads").at("pieces"))
    bytes += piece.at("bytes").get<std::int64_t>();
  EXPECT_EQ(bytes, 10) << project.body;
}

TEST_F(Packs, R76_OtherCodeHasItsOwnPacks) {
  const TestServer server(with_packs());
  auto grid = nlohmann::json::parse(spec(server, "a", kCode, own_));
  grid["limits"]["max_failures"] = 0;
  ASSERT_EQ(answer_to(server, grid.dump()), "201");
  TestWorker worker(server, server.join());
  worker.send(TestWorker::failure(worker.ready().attempt));
  worker.receive<protocol::ResultAck>();
  const std::string code = "PK hyperflock needs scipy";
  nlohmann::json body{{"entry", "module:function"},
                      {"bundle", {{"sha256", server.upload(code)}, {"bytes", code.size()}}},
                      {"packs", own_}};
  const auto replay = [&] {
    return server.rest("POST", "/api/studies/1/replay", nlohmann::json{{"code", body}}.dump());
  };
  const auto refused = replay();
  EXPECT_EQ(code_of(refused), "pack_mismatch");
  EXPECT_NE(refused.body.find(R"("code.packs[0].name")"), std::string::npos) << refused.body;
  body.erase("packs");
  const auto replayed = replay();
  ASSERT_EQ(replayed.status, 200) << replayed.body;
  EXPECT_EQ(packs_of(server, 1)[0].at("name"), "scipy");
}

TEST_F(Packs, R76_PacksOfAnotherPyodideRunNoStudy) {
  write_list("315.0.0");
  const TestServer server(with_packs());
  EXPECT_EQ(answer_to(server, spec(server, "a", kCode)), "422 runtime_mismatch");
  EXPECT_EQ(answer_to(server, spec(server, "b", "PK")), "201");
}

TEST_F(Packs, AListThatCannotBeUsedIsNotServedAndOtherStudiesGoOn) {
  std::ofstream(folder_.file("packs/packs.json")) << "{";
  const TestServer server(with_packs());
  EXPECT_EQ(http_request(server.compute(), "GET", "/runtime/packs.json").status, 404);
  EXPECT_EQ(answer_to(server, spec(server, "a", kCode)), "422 missing_pack");
  EXPECT_EQ(answer_to(server, spec(server, "b", "PK")), "201");
}

TEST(PackCommand, TakesPacksOverHttpsOrFromThisMachine) {
  const ScratchFolder folder;
  const auto answer = [&](const std::string& from) {
    const Command command = parse_command_line(
        {"packs", "add", "scipy", "--from", from, "--packs", folder.path().string()});
    return std::get<Stop>(command).text;
  };
  for (const char* from : {"ftp://example.org/packs", "http://example.org", "file:///srv/packs",
                           "http://127.0.0.1.example.org", "HTTPS://example.org"}) {
    EXPECT_EQ(answer(from),
              "Take packs from a folder or over https://, because their list has their hashes; "
              "http:// is taken from this machine only. (bad_flag)\n")
        << from;
  }
  // No server listens there, but it was asked.
  EXPECT_NE(answer("http://127.0.0.1:1").find("(unreachable)"), std::string::npos);
}

// The device finds that the pack is missing, and gives its attempt back.
TEST_F(Packs, R76_OtherStudiesGoOnAfterAPackWasRemoved) {
  TestServer server(with_packs());
  ASSERT_EQ(answer_to(server, spec(server, "a", kCode, own_)), "201");
  server.restart([this] {
    std::ofstream(folder_.file("packs/packs.json")) << R"({"pyodide":"314.0.3","packs":{}})";
  });
  EXPECT_EQ(packs_of(server, 1), own_);
  EXPECT_EQ(answer_to(server, spec(server, "b", kCode, own_)), "422 missing_pack");
  TestWorker worker(server, server.join());
  const auto lease = worker.ready();
  ASSERT_EQ(lease.packs.size(), 1U);
  ASSERT_EQ(answer_to(server, spec(server, "c", "PK")), "201");
  worker.send(protocol::Release{lease.attempt, 1, protocol::ReleaseReason::cannot_run});
  worker.receive<protocol::Ack>();
  // This device gets the other study's trials alone. The study without its pack waits.
  for (int trial = 0; trial < 2; ++trial) {
    const auto next = worker.ready();
    EXPECT_TRUE(next.packs.empty());
    worker.send(TestWorker::result(next.attempt, 1.0));
    worker.receive<protocol::ResultAck>();
  }
  const auto state = [&](const char* study) {
    const auto row = server.rest("GET", std::string("/api/studies/") + study);
    return nlohmann::json::parse(row.body).at("state").get<std::string>();
  };
  EXPECT_EQ(state("1"), "running");
  EXPECT_EQ(state("2"), "finished");
}

}  // namespace
}  // namespace hyperflock::app
