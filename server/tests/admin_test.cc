// Tests the administrator's commands: their requests, their output, and the server's answers.
#include "cli/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/config.h"
#include "cli/credentials.h"
#include "tests/support/test_server.h"

namespace hyperflock::app {
namespace {

using testing::HasSubstr;
using testing::Not;

cli::AdminCommand parsed(std::vector<std::string> arguments) {
  const Command command = parse_command_line(arguments);
  const auto* admin = std::get_if<cli::AdminCommand>(&command);
  if (admin == nullptr) {
    const auto* stop = std::get_if<Stop>(&command);
    ADD_FAILURE() << (stop != nullptr ? stop->text : "another command");
    return {};
  }
  return *admin;
}

std::string refusal(const std::vector<std::string>& arguments) {
  const Command command = parse_command_line(arguments);
  const auto* stop = std::get_if<Stop>(&command);
  return stop != nullptr && stop->status == 2 ? stop->text : "";
}

TEST(AdminFlags, AreTaken) {
  const cli::AdminCommand code = parsed({"enrol", "create", "--project", "Birds", "--expires-hours",
                                         "1.5", "--max-uses", "30", "--json"});
  EXPECT_EQ(code.group, "enrol");
  EXPECT_EQ(code.verb, "create");
  EXPECT_EQ(code.project, "Birds");
  EXPECT_EQ(code.expires_hours, 1.5);
  EXPECT_EQ(code.max_uses, 30);
  EXPECT_TRUE(code.json);
  EXPECT_EQ(code.url, "http://127.0.0.1:8790");
  EXPECT_EQ(parsed({"token", "rotate"}).grace_hours, 24);
  EXPECT_EQ(parsed({"token", "revoke", "7"}).id, 7);
  const cli::AdminCommand person = parsed(
      {"researcher", "approve", "grace", "--project", "a", "--project", "b", "--studies", "3"});
  EXPECT_THAT(person.projects, testing::ElementsAre("a", "b"));
  EXPECT_EQ(person.studies, 3);
  EXPECT_FALSE(person.trials.has_value());
}

TEST(AdminFlags, BadOnesAreRefused) {
  const std::vector<std::vector<std::string>> bad{
      {"token", "dance"},        {"token", "revoke"},
      {"token", "revoke", "x"},  {"enrol", "create", "--max-uses", "-1"},
      {"researcher", "approve"}, {"audit", "list", "--limit", "0"},
      {"device", "erase"}};
  for (const auto& arguments : bad) EXPECT_NE(refusal(arguments), "") << arguments.back();
}

TEST(AdminFlags, HelpIsOfTheInnermostCommand) {
  const Command help = parse_command_line({"enrol", "create", "--help"});
  ASSERT_TRUE(std::holds_alternative<Stop>(help));
  EXPECT_EQ(std::get<Stop>(help).status, 0);
  EXPECT_THAT(std::get<Stop>(help).text, HasSubstr("--max-uses"));
}

TEST(AdminOutput, TableKeepsTheTerminalClean) {
  cli::AdminCommand command = parsed({"researcher", "list"});
  command.token = "hfa_x";
  cli::ClientRequest asked;
  const cli::AdminResult result =
      cli::run_admin(command, [&](const cli::ClientRequest& request, const cli::ClientSettings&) {
        asked = request;
        return cli::ClientReply{200, "HTTP/1.1 200 OK",
                                R"({"researchers":[{"researcher":1,"name":"a\u001b[2Jb\u009bc",)"
                                R"("role":"researcher","state":"pending","projects":["p","q"],)"
                                R"("quota":{"studies":1,"trials":0,"bytes":0},"note":""}]})"};
      });
  EXPECT_EQ(asked.url, "http://127.0.0.1:8790/api/researchers");
  EXPECT_EQ(asked.authorization, "Bearer hfa_x");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr(R"(a\u{001B}[2Jb\u{009B}c)"));
  EXPECT_THAT(result.output, HasSubstr("p, q"));
  EXPECT_THAT(result.output, HasSubstr("studies=1"));
  EXPECT_THAT(result.output, Not(HasSubstr("\x1b")));
}

TEST(AdminOutput, ARefusalIsOneSentenceWithItsCode) {
  cli::AdminCommand command = parsed({"project", "create", "Birds"});
  EXPECT_THAT(cli::run_admin(command).error, HasSubstr("(bad_flag)"));  // there is no token
  command.token = "hfa_x";
  const auto refusing = [](const cli::ClientRequest& request, const cli::ClientSettings&) {
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.body, R"({"project":"Birds"})");
    return cli::ClientReply{409, "HTTP/1.1 409 Conflict",
                            R"({"error":{"code":"name_taken","message":"Choose another."}})"};
  };
  const cli::AdminResult result = cli::run_admin(command, refusing);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.error, "Choose another. (name_taken)\n");
  const cli::AdminResult strange =
      cli::run_admin(command, [](const cli::ClientRequest&, const cli::ClientSettings&) {
        return cli::ClientReply{502, "HTTP/1.1 502 Bad Gateway", "<html>"};
      });
  EXPECT_THAT(strange.error, HasSubstr("(unreachable)"));
}

class AdminAgainstAServer : public ::testing::Test {
 protected:
  cli::AdminResult run(std::vector<std::string> arguments) {
    cli::AdminCommand command = parsed(std::move(arguments));
    command.url = server_.server().console_origin();
    command.token = server_.secrets().admin_token;
    return cli::run_admin(command);
  }
  nlohmann::json json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const cli::AdminResult result = run(std::move(arguments));
    EXPECT_EQ(result.error, "");
    return nlohmann::json::parse(result.output, nullptr, false);
  }

  TestServer server_;
};

TEST_F(AdminAgainstAServer, APersonsWay) {
  EXPECT_EQ(json({"project", "create", "Birds"}).at("project"), "Birds");
  const auto made = json({"researcher", "create", "grace", "--project", "Birds", "--bytes", "9"});
  const std::string token = made.at("token");
  EXPECT_EQ(json_at(server_.rest_as(token, "GET", "/api/me").body, "quota.bytes"), "9");
  const auto second = json({"token", "create", "grace", "--expires-hours", "1"});
  EXPECT_EQ(server_.rest_as(second.at("token"), "GET", "/api/me").status, 200);
  EXPECT_EQ(run({"token", "revoke", second.at("id").dump()}).status, 0);
  EXPECT_EQ(server_.rest_as(second.at("token"), "GET", "/api/me").status, 401);

  const auto suspended = json({"researcher", "suspend", "grace", "--reason", "too hot"});
  EXPECT_EQ(suspended.at("state"), "suspended");
  EXPECT_EQ(suspended.at("reason"), "too hot");
  EXPECT_EQ(json({"researcher", "approve", "grace"}).at("state"), "active");
  EXPECT_EQ(json({"researcher", "quota", "grace", "--trials", "4"}).at("quota").at("bytes"), 9);
  EXPECT_EQ(
      json({"researcher", "projects", "grace", "--project", "First project"}).at("projects").dump(),
      R"(["First project"])");
  EXPECT_THAT(run({"researcher", "refuse", "nobody"}).error, HasSubstr("(unknown_researcher)"));
  const cli::AdminResult list = run({"researcher", "list"});
  EXPECT_THAT(list.output, HasSubstr("grace"));
  EXPECT_THAT(list.output, HasSubstr("trials=4"));
}

TEST_F(AdminAgainstAServer, SetsShares) {
  const auto set = json({"share", "set", "--project", "First project", "--weight", "200",
                         "--guaranteed", "3", "--lends", "*"});
  EXPECT_EQ(set.at("weight"), 200);
  EXPECT_EQ(set.at("guaranteed"), 3);
  EXPECT_THAT(set.at("lends"), testing::ElementsAre("*"));
  EXPECT_THAT(run({"share", "list"}).output, HasSubstr("First project"));
  // What is not named stays.
  const auto less = json({"share", "set", "--project", "First project", "--lends-nothing"});
  EXPECT_EQ(less.at("lends").size(), 0U);
  EXPECT_EQ(less.at("weight"), 200);
  EXPECT_FALSE(json({"share", "remove", "--project", "First project"}).contains("weight"));
  EXPECT_EQ(json({"share", "list"}).at("shares").size(), 0U);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"share", "set", "--researcher", "nobody", "--weight", "5"},
        {"share", "set", "--project", "First project", "--lends", "Moon"},
        {"share", "set", "--project", "Moon", "--guaranteed", "1"}})
    EXPECT_THAT(run(wrong).error, HasSubstr("(bad_field)")) << wrong[2];
}

TEST_F(AdminAgainstAServer, FreezesBarsAndSetsCeilings) {
  EXPECT_EQ(json({"project", "freeze", "First project", "--reason", "too hot"}).at("frozen"), true);
  EXPECT_THAT(run({"project", "list"}).output, HasSubstr("too hot"));
  EXPECT_EQ(json({"project", "unfreeze", "First project"}).at("frozen"), false);
  EXPECT_THAT(run({"project", "freeze", "Moon"}).error, HasSubstr("(unknown_project)"));

  const std::string hash(64, 'a');
  EXPECT_EQ(json({"bundle", "bar", hash, "--reason", "mines coins"}).at("barred"), true);
  EXPECT_THAT(run({"bundle", "list"}).output, HasSubstr("mines coins"));
  EXPECT_EQ(json({"bundle", "lift", hash}).at("barred"), false);
  EXPECT_THAT(run({"bundle", "bar", "aaa"}).error, HasSubstr("(bad_field)"));

  const auto set = json({"ceiling", "set", "--time-limit-s", "60", "--devices", "5"});
  EXPECT_EQ(set.at("time_limit_ms"), 60'000);
  const auto more =
      json({"ceiling", "set", "--project", "First project", "--bytes", "9", "--approval", "yes"});
  EXPECT_EQ(more.at("approval"), true);
  EXPECT_FALSE(more.contains("devices"));
  EXPECT_THAT(run({"ceiling", "list"}).output, HasSubstr("60000"));
  EXPECT_THAT(run({"ceiling", "set", "--researcher", "nobody", "--devices", "1"}).error,
              HasSubstr("(bad_field)"));
  EXPECT_FALSE(json({"ceiling", "remove"}).contains("devices"));

  EXPECT_EQ(json({"approval", "list"}).at("studies").size(), 0U);
  EXPECT_THAT(run({"approval", "give", "7"}).error, HasSubstr("(unknown_study)"));
  EXPECT_THAT(run({"approval", "refuse", "7", "--reason", "no"}).error,
              HasSubstr("(unknown_study)"));
}

TEST_F(AdminAgainstAServer, CodesDevicesAndTheLog) {
  const auto code = json({"enrol", "create", "--max-uses", "2", "--label", "poster"});
  EXPECT_THAT(code.at("join_url").get<std::string>(), HasSubstr("/join#hfe_"));
  EXPECT_THAT(run({"enrol", "list"}).output, HasSubstr("poster"));
  EXPECT_EQ(run({"enrol", "revoke", code.at("enrolment").dump()}).status, 0);
  EXPECT_THAT(run({"enrol", "list"}).output, HasSubstr("revoked"));
  const TestDevice device = server_.join();
  EXPECT_EQ(run({"device", "revoke", device.id}).status, 0);
  EXPECT_EQ(run({"device", "erase", device.id}).status, 0);
  EXPECT_THAT(run({"device", "erase", device.id}).error, HasSubstr("(unknown_device)"));
  EXPECT_THAT(run({"audit", "list"}).output, HasSubstr("enrolment.revoke"));
  const std::string lines = run({"audit", "export"}).output;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 4);
  EXPECT_EQ(run({"audit", "export", "--after", "99"}).output, "");
  EXPECT_THAT(run({"project", "list"}).output, HasSubstr("First project"));
}

TEST_F(AdminAgainstAServer, WhoAsksComesFromAFileToo) {
  cli::AdminCommand command = parsed({"token", "rotate", "--grace-hours", "0"});
  command.url = server_.server().console_origin() + "/";
  command.token_file = server_.file("token");
  std::ofstream(command.token_file) << server_.secrets().admin_token << "\n";
  const cli::AdminResult rotated = cli::run_admin(command);
  EXPECT_EQ(rotated.error, "");
  EXPECT_THAT(rotated.output, HasSubstr("hfa_"));
  EXPECT_THAT(cli::run_admin(command).error, HasSubstr("(unauthorized)"));
  command.token_file = "/nowhere";
  EXPECT_THAT(cli::run_admin(command).error, HasSubstr("(file_unreadable)"));
}

TEST_F(AdminAgainstAServer, ARotatedTokenIsKeptInTheCredentialsFile) {
  cli::AdminCommand command = parsed({"token", "rotate", "--grace-hours", "0", "--json"});
  command.url = server_.server().console_origin();
  command.credentials_file = server_.file("credentials.json");
  cli::Credentials before;
  before.admin_token = server_.secrets().admin_token;
  before.join_url = "http://x/join#e";
  ASSERT_TRUE(cli::write_credentials(command.credentials_file, before));
  const cli::AdminResult first = cli::run_admin(command);
  EXPECT_EQ(first.error, "");
  EXPECT_EQ(cli::read_credentials(server_.file("")).error().code, "file_unreadable");  // a folder
  const cli::Credentials after = cli::read_credentials(command.credentials_file).value();
  EXPECT_EQ(nlohmann::json::parse(first.output).at("token"), after.admin_token);
  EXPECT_EQ(after.join_url, "http://x/join#e");
  EXPECT_EQ(cli::run_admin(command).error, "");  // with the new token
}

}  // namespace
}  // namespace hyperflock::app
