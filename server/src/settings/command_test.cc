// Tests `config check` and `config show`, and that the documentation contains the table of
// settings.
#include "settings/command.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/testing/scratch_folder.h"
#include "paths.h"

namespace hyperflock::settings {
namespace {

class ConfigCommandTest : public ::testing::Test {
 protected:
  ConfigCommandTest() { given_.file = folder_.file("server.toml"); }
  void file(const std::string& text) const { std::ofstream(given_.file) << text; }

  ScratchFolder folder_;
  Given given_;
};

TEST_F(ConfigCommandTest, CheckPrintsALineForEachFaultAndFails) {
  file("state = \"/tmp\"\nleese-ms = 1\nio-threads = 65\n");
  const Printed printed = check_command(given_);
  EXPECT_EQ(printed.status, 1);
  EXPECT_EQ(printed.text, given_.file +
                              ":2: There is no setting leese-ms; did you mean lease-ms?\n" +
                              given_.file + ":3: io-threads: Give a whole number from 1 to 64.\n");
}

TEST_F(ConfigCommandTest, CheckOfARightFileSaysSo) {
  file("state = \"/tmp\"\nio-threads = 2\n");
  const Printed printed = check_command(given_);
  EXPECT_EQ(printed.status, 0);
  EXPECT_EQ(printed.text, given_.file + ": no faults; 2 of " + std::to_string(table().size()) +
                              " settings are not defaults.\n");
}

TEST_F(ConfigCommandTest, ShowNamesTheSourceOfEachSetting) {
  file("state = \"/tmp\"\nio-threads = 2\n");
  given_.flags["lease-ms"] = {"60000"};
  given_.environment = [](const std::string& name) {
    return name == "HYPERFLOCK_PROJECT" ? "A \"name\"" : nullptr;
  };
  const Printed printed = show_command(given_);
  EXPECT_EQ(printed.status, 0);
  const auto line = [&](const std::string& name) {
    const std::size_t at = printed.text.find("\n" + name + " ");
    if (at == std::string::npos) return std::string();
    std::string found = printed.text.substr(at + 1, printed.text.find('\n', at + 1) - at - 1);
    const std::size_t space = found.find(" = ");
    return found.substr(space + 3);
  };
  EXPECT_EQ(line("io-threads"), "2  # " + given_.file + ":2");
  EXPECT_EQ(line("lease-ms"), "\"1 min\"  # --lease-ms");
  EXPECT_EQ(line("project"), R"("A \"name\""  # HYPERFLOCK_PROJECT)");
  EXPECT_EQ(line("min-free-bytes"), "\"1 GiB\"  # default");
  EXPECT_NE(printed.text.find("\n# tls-key "), std::string::npos);
  for (const Setting& setting : table())
    EXPECT_NE(printed.text.find(std::string(setting.name) + " "), std::string::npos)
        << setting.name;
}

TEST_F(ConfigCommandTest, WhatIsShownIsAFileThatSaysTheSame) {
  file("state = \"/tmp\"\ntrusted-proxy = [\"127.0.0.1\"]\nwebhooks = false\njoins-per-s = 0.25\n");
  const ServeConfig before = put_together(given_).config;
  const std::string shown = show_command(given_).text;
  file(shown);
  const Effective after = put_together(given_);
  EXPECT_EQ(check_command(given_).text.find("f:"), std::string::npos);
  ASSERT_TRUE(after.faults.empty()) << after.faults.front().line();
  EXPECT_EQ(after.config, before);
}

TEST_F(ConfigCommandTest, ShowOfAWrongFileSaysWhatIsWrong) {
  file("state = 1\n");
  EXPECT_EQ(show_command(given_).status, 1);
}

TEST(SettingsPage, HasTheTable) {
  std::ifstream page(std::string(kSourceDirectory) + "/server/docs/settings.md");
  std::stringstream text;
  text << page.rdbuf();
  const std::string wanted = "\n## Reference\n\n" + reference();
  EXPECT_TRUE(text.str().ends_with(wanted))
      << "Replace what follows `## Reference` in server/docs/settings.md by the output of "
         "`hyperflock-server config reference`.";
}

}  // namespace
}  // namespace hyperflock::settings
