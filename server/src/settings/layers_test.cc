// Tests the order of the sources (default, file, environment, flag) and the rules of the table of
// settings.
#include "settings/layers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "base/testing/scratch_folder.h"

namespace hyperflock::settings {
namespace {

class LayersTest : public ::testing::Test {
 protected:
  LayersTest() {
    given_.environment = [this](const std::string& name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? nullptr : found->second.c_str();
    };
    given_.flags["state"] = {"/tmp"};
  }

  void file(const std::string& text) {
    given_.file = folder_.file("f.toml");
    std::ofstream(given_.file) << text;
  }
  Effective made() const { return put_together(given_); }
  // Returns the configuration, which must have no fault.
  ServeConfig config() const {
    const Effective effective = made();
    for (const Fault& fault : effective.faults) ADD_FAILURE() << fault.line();
    return effective.config;
  }
  std::string faults() const {
    std::string text;
    for (const Fault& fault : made().faults) text += fault.line();
    return text;
  }

  ScratchFolder folder_;
  std::map<std::string, std::string> environment_;
  Given given_;
};

TEST_F(LayersTest, AFlagCountsBeforeTheEnvironmentAndThatBeforeTheFile) {
  EXPECT_EQ(config().lease_ms, 45'000);
  EXPECT_FALSE(made().sources.contains("lease-ms"));
  file("lease-ms = \"50 s\"\n");
  EXPECT_EQ(config().lease_ms, 50'000);
  EXPECT_EQ(made().sources["lease-ms"], given_.file + ":1");
  environment_["HYPERFLOCK_LEASE_MS"] = "51 s";
  EXPECT_EQ(config().lease_ms, 51'000);
  EXPECT_EQ(made().sources["lease-ms"], "HYPERFLOCK_LEASE_MS");
  given_.flags["lease-ms"] = {"52000"};
  EXPECT_EQ(config().lease_ms, 52'000);
  EXPECT_EQ(made().sources["lease-ms"], "--lease-ms");
}

TEST_F(LayersTest, EachLayerMayTurnAFlagOffAgain) {
  file("insecure = true\nregistration = false\n");
  EXPECT_TRUE(config().insecure);
  EXPECT_FALSE(config().open_registration);
  environment_["HYPERFLOCK_INSECURE"] = "false";
  environment_["HYPERFLOCK_REGISTRATION"] = "yes";
  EXPECT_FALSE(config().insecure);
  EXPECT_TRUE(config().open_registration);
}

TEST_F(LayersTest, TheEnvironmentMayNameTheFileAndAFlagAnother) {
  file("io-threads = 2\n");
  environment_["HYPERFLOCK_CONFIG"] = std::exchange(given_.file, "");
  EXPECT_EQ(config().io_threads, 2U);
  file("io-threads = 3\n");
  given_.file = folder_.file("other.toml");
  std::ofstream(given_.file) << "io-threads = 4\n";
  EXPECT_EQ(config().io_threads, 4U);
}

TEST_F(LayersTest, AListOfTheEnvironmentIsDividedAndReplacesTheFile) {
  file("trusted-proxy = [\"10.0.0.0/8\"]\n");
  environment_["HYPERFLOCK_TRUSTED_PROXY"] = " 127.0.0.1, ::1 172.16.0.0/12,";
  EXPECT_EQ(config().trusted_proxies, (Words{"127.0.0.1", "::1", "172.16.0.0/12"}));
}

TEST_F(LayersTest, AnEmptyVariableIsNotSet) {
  environment_["HYPERFLOCK_LEASE_MS"] = "";
  environment_["HYPERFLOCK_CONFIG"] = "";
  EXPECT_EQ(config().lease_ms, 45'000);
}

TEST_F(LayersTest, AFaultThatAnotherLayerReplacesIsStillOne) {
  file("lease-ms = 1\n");
  environment_["HYPERFLOCK_LEASE_MS"] = "soon";
  given_.flags["lease-ms"] = {"45 s"};
  EXPECT_EQ(
      faults(),
      given_.file + ":1: lease-ms: Give a time from 1 s to 1 h.\n" +
          "HYPERFLOCK_LEASE_MS: Give a whole number and a unit, such as 500 ms, 30 s or 5 min; "
          "a number alone counts milliseconds.\n");
}

TEST_F(LayersTest, SettingsAreCheckedTogether) {
  file("compute = \"0.0.0.0:443\"\n");
  EXPECT_NE(faults().find(given_.file + ": 0.0.0.0:443 can be reached"), std::string::npos)
      << faults();
  environment_["HYPERFLOCK_INSECURE"] = "1";
  EXPECT_EQ(faults(), "");
  given_.flags.erase("state");
  EXPECT_NE(faults().find("HYPERFLOCK_STATE"), std::string::npos) << faults();
}

TEST_F(LayersTest, NamesAndUrlsGetOneForm) {
  file("public-url = \"https://flock.example//\"\nproject = \"Cafe\\u0301\"\n");
  EXPECT_EQ(config().public_url, "https://flock.example");
  EXPECT_EQ(config().project, "Café");
}

TEST(Table, EveryRowHasItsOwnNameAndADefaultThatItTakes) {
  std::set<std::string> names;
  for (const Setting& setting : table()) {
    EXPECT_TRUE(names.insert(setting.environment()).second) << setting.name;
    EXPECT_FALSE(setting.help.empty()) << setting.name;
    const Value value = setting.form.get(ServeConfig{});
    const std::string text = setting.form.text(value);
    if (setting.form.kind == Kind::list || text.empty()) continue;
    const auto read = setting.form.read({text});
    ASSERT_TRUE(read) << setting.name << ": " << read.error().message;
    EXPECT_EQ(*read, value) << setting.name;
  }
  EXPECT_EQ(find_setting("tls-key")->environment(), "HYPERFLOCK_TLS_KEY");
  EXPECT_EQ(find_setting("tls-key")->flag(), "--tls-key");
}

// A row that names another row's member would change the wrong setting.
TEST(Table, EveryRowHasAMemberOfItsOwn) {
  for (const Setting& setting : table()) {
    ServeConfig config;
    const Value before = setting.form.get(config);
    const Form& form = setting.form;
    Value other;
    if (const bool* on = std::get_if<bool>(&before)) other = !*on;
    if (std::holds_alternative<std::int64_t>(before))
      other = static_cast<std::int64_t>(form.least) + 1;
    if (std::holds_alternative<double>(before)) other = form.least + 1;
    if (std::holds_alternative<Words>(before)) other = Words{"changed"};
    if (std::holds_alternative<std::string>(before)) {
      other = std::string("changed");
      if (form.placeholder == "ADDR:PORT") other = std::string("127.0.0.1:1");
      if (form.placeholder == "LEVEL") other = std::string("off");
      if (form.placeholder == "FORMAT") other = std::string("text");
    }
    form.put(config, other);
    EXPECT_EQ(form.get(config), other) << setting.name;
    for (const Setting& untouched : table()) {
      if (&untouched == &setting) continue;
      EXPECT_EQ(untouched.form.get(config), untouched.form.get(ServeConfig{}))
          << setting.name << " changes " << untouched.name;
    }
  }
}

}  // namespace
}  // namespace hyperflock::settings
