// Tests recovery without a token: what it prints and refuses, and what the audit log contains.
#include "cli/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "auth/identity_cache.h"
#include "auth/trusted_clock.h"
#include "cli/admin.h"
#include "cli/credentials.h"
#include "storage/sqlite/db/db.h"
#include "storage/sqlite/open.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using testing::HasSubstr;

cli::AdminResult recover(const std::string& state_dir, const std::vector<std::string>& more = {}) {
  std::vector<std::string> line{"token", "recover", "--state", state_dir, "--json"};
  line.insert(line.end(), more.begin(), more.end());
  const Command command = parse_command_line(line);
  if (const auto* stop = std::get_if<Stop>(&command)) return {stop->status, {}, stop->text};
  return cli::run_admin(
      std::get<cli::AdminCommand>(command),
      [](const cli::ClientRequest&, const cli::ClientSettings&) -> Result<cli::ClientReply> {
        ADD_FAILURE() << "it asks a server";
        return Error{"unreachable", "No."};
      });
}

TEST(Recover, GivesATokenThatOpensTheNextStart) {
  TestServer server;
  const std::string state = server.config().state_dir;
  cli::AdminResult recovered;
  server.restart([&] { recovered = recover(state); });
  EXPECT_EQ(recovered.error, "");
  ASSERT_EQ(recovered.status, 0);
  const auto made = nlohmann::json::parse(recovered.output);
  const std::string token = made.at("token");
  EXPECT_EQ(made.at("name"), "admin");
  const auto me = server.rest_as(token, "GET", "/api/me");
  EXPECT_EQ(json_at(me.body, "role"), "admin") << me.body;
  EXPECT_EQ(json_at(me.body, "token"), made.at("id").dump());
  // The new token never expires, so an administrator who has lost a token can revoke it with the
  // new one.
  const std::string& lost = server.secrets().admin_token;
  const std::string old = json_at(server.rest_as(lost, "GET", "/api/me").body, "token");
  EXPECT_EQ(server.rest_as(token, "POST", "/api/tokens/" + old + "/revoke").status, 200);

  const auto log = nlohmann::json::parse(server.rest_as(token, "GET", "/api/audit").body);
  const auto& entry = log.at("entries").at(0);
  EXPECT_EQ(entry.at("action"), "token.recover");
  EXPECT_EQ(entry.at("actor"), "server");
  EXPECT_EQ(entry.at("object"), "admin");
  EXPECT_EQ(log.dump().find(token), std::string::npos);
}

// The command takes the time from the machine's clock. If that clock is far ahead, the server must
// not adopt its time.
TEST(Recover, KeepsNoTimeThatIsFarAhead) {
  TestServer server;
  const std::string path = storage::database_of(server.config().state_dir);
  const std::int64_t long_ago = auth::TrustedClock::read_clocks().wall - 4 * auth::kLongestRestMs;
  std::int64_t kept = 0;
  server.restart([&] {
    storage::sqlite::Db db(path, storage::sqlite::Db::Mode::read_write);
    db.exec("UPDATE kept_time SET at = " + std::to_string(long_ago));
    EXPECT_EQ(recover(server.config().state_dir).status, 0);
    kept = std::stoll(db.single("SELECT at FROM kept_time"));
  });
  EXPECT_GE(kept, long_ago);
  EXPECT_LT(kept, long_ago + auth::kLongestRestMs);
}

TEST(Recover, IsRefusedWhileAServerRuns) {
  TestServer server;
  const cli::AdminResult refused = recover(server.config().state_dir);
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(refused.error, HasSubstr("stop it first. (storage_open)"));
}

TEST(Recover, MayNameTheAdministrator) {
  TestServer server;
  const std::string& admin = server.secrets().admin_token;
  server.rest_as(admin, "POST", "/api/researchers", R"({"name":"kay","role":"admin"})");
  server.rest_as(admin, "POST", "/api/researchers", R"({"name":"joy","role":"admin"})");
  const auto people = nlohmann::json::parse(server.rest_as(admin, "GET", "/api/researchers").body);
  const std::string joy = people.at("researchers").back().at("researcher").dump();
  server.rest_as(admin, "POST", "/api/researchers/" + joy, R"({"state":"suspended"})");
  const std::string state = server.config().state_dir;
  server.restart([&] {
    const cli::AdminResult kay = recover(state, {"kay"});
    EXPECT_EQ(nlohmann::json::parse(kay.output).at("name"), "kay");
    for (const char* name : {"joy", "researcher", "nobody"})
      EXPECT_THAT(recover(state, {name}).error, HasSubstr("(unknown_researcher)")) << name;
  });
}

TEST(Recover, TheCredentialsFileKeepsTheToken) {
  TestServer server;
  cli::Credentials credentials;
  credentials.admin_token = "hfa_lost";
  credentials.researcher_token = server.secrets().researcher_token;
  const std::string file = server.file("credentials.json");
  ASSERT_TRUE(cli::write_credentials(file, credentials));
  const std::string state = server.config().state_dir;
  server.restart([&] { EXPECT_EQ(recover(state, {"--credentials-file", file}).error, ""); });
  const cli::Credentials kept = cli::read_credentials(file).value();
  EXPECT_EQ(server.rest_as(kept.admin_token, "GET", "/api/researchers").status, 200);
  EXPECT_EQ(kept.researcher_token, server.secrets().researcher_token);
}

TEST(Recover, MakesNoDatabaseAndNobody) {
  const ScratchFolder folder;
  const std::string state = folder.file("state");
  EXPECT_EQ(recover(state).status, 2);  // the folder does not exist
  std::filesystem::create_directories(state);
  EXPECT_THAT(recover(state).error, HasSubstr("(bad_state)"));
  EXPECT_TRUE(std::filesystem::is_empty(state));
  ASSERT_TRUE(storage::open_sqlite_storage(storage::database_of(state),
                                           auth::IdentityCache::system_clock()));
  EXPECT_THAT(recover(state).error, HasSubstr("first start of the server makes one"));
}

TEST(Recover, HelpSaysWhatItNeeds) {
  const Command help = parse_command_line({"token", "recover", "--help"});
  const std::string& text = std::get<Stop>(help).text;
  EXPECT_THAT(text, HasSubstr("--state"));
  EXPECT_THAT(text, HasSubstr("stopped"));
  EXPECT_EQ(text.find("--url"), std::string::npos);
}

}  // namespace
}  // namespace hyperflock::app
