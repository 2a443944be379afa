// Tests the configuration file: what it may contain, and that each fault is reported in one line.
#include "settings/toml_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/testing/scratch_folder.h"

namespace hyperflock::settings {
namespace {

// Returns the lines of all faults.
std::string faults_of(const FileSettings& read) {
  std::string text;
  for (const Fault& fault : read.faults) text += fault.line();
  return text;
}
std::string faults_of(std::string_view text) { return faults_of(read_toml(text, "f")); }

TEST(TomlFile, ReadsEachType) {
  const FileSettings read = read_toml(
      "# A comment.\n"
      "compute = \"0.0.0.0:443\"\n"
      "min-free-bytes = \"2 GiB\"\n"
      "reserve-bytes = 1_024\n"
      "lease-ms = \"60 s\"\n"
      "io-threads = 2\n"
      "joins-per-s = 0.5\n"
      "joins-burst = 7\n"
      "webhooks = false\n"
      "trusted-proxy = [\"10.0.0.0/8\", \"127.0.0.1\"]\n"
      "project = 'Ünïted \"trials\"'\n",
      "f");
  EXPECT_EQ(faults_of(read), "");
  const auto value = [&](std::string_view name) { return read.entries.at(name).value; };
  EXPECT_EQ(value("compute"), Value(std::string("0.0.0.0:443")));
  EXPECT_EQ(value("min-free-bytes"), Value(std::int64_t{2} << 30));
  EXPECT_EQ(value("reserve-bytes"), Value(std::int64_t{1'024}));
  EXPECT_EQ(value("lease-ms"), Value(std::int64_t{60'000}));
  EXPECT_EQ(value("io-threads"), Value(std::int64_t{2}));
  EXPECT_EQ(value("joins-per-s"), Value(0.5));
  EXPECT_EQ(value("joins-burst"), Value(7.0));
  EXPECT_EQ(value("webhooks"), Value(false));
  EXPECT_EQ(value("trusted-proxy"), Value(Words{"10.0.0.0/8", "127.0.0.1"}));
  EXPECT_EQ(value("project"), Value(std::string("Ünïted \"trials\"")));
  EXPECT_EQ(read.entries.at("io-threads").where, "f:6");
}

TEST(TomlFile, AnEmptyFileSaysNothing) {
  for (const char* text : {"", "\n", "# only a comment", "\r\n\r\n", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(faults_of(text), "") << text;
    EXPECT_TRUE(read_toml(text, "f").entries.empty());
  }
}

TEST(TomlFile, EachFaultHasItsLine) {
  const struct {
    const char* text;
    const char* line;
  } bad[] = {
      {"\nmin-free-byte = 1",
       "f:2: There is no setting min-free-byte; did you mean min-free-bytes?\n"},
      {"lease_ms = 1", "f:1: There is no setting lease_ms; did you mean lease-ms?\n"},
      {"wibble = 1", "f:1: There is no setting wibble.\n"},
      {"config = \"other.toml\"", "f:1: There is no setting config.\n"},
      {"[serve]\nlease-ms = 1", "f:1: The file has no tables; remove [serve].\n"},
      {"lease-ms = { of = 1 }",
       "f:1: lease-ms takes a time such as \"30 s\", or a number of milliseconds.\n"},
      {"serve.lease-ms = 1", "f:1: The file has no tables; remove [serve].\n"},
      {"io-threads = \"2\"", "f:1: io-threads takes a whole number without quotes.\n"},
      {"io-threads = 2.0", "f:1: io-threads takes a whole number without quotes.\n"},
      {"insecure = 1", "f:1: insecure takes true or false.\n"},
      {"insecure = \"true\"", "f:1: insecure takes true or false.\n"},
      {"compute = 8780", "f:1: compute takes a text in quotes.\n"},
      {"compute = 2026-11-27", "f:1: compute takes a text in quotes.\n"},
      {"trusted-proxy = \"127.0.0.1\"",
       "f:1: trusted-proxy takes a list of texts such as [\"...\", \"...\"].\n"},
      {"trusted-proxy = [1]",
       "f:1: trusted-proxy takes a list of texts such as [\"...\", \"...\"].\n"},
      {"joins-per-s = \"2\"", "f:1: joins-per-s takes a number without quotes.\n"},
      {"io-threads = 0", "f:1: io-threads: Give a whole number from 1 to 64.\n"},
      {"lease-ms = \"2 h\"", "f:1: lease-ms: Give a time from 1 s to 1 h.\n"},
      {"lease-ms = 2_000_000_000_000", "f:1: lease-ms: Give a time from 1 s to 1 h.\n"},
      {"reserve-bytes = -1",
       "f:1: reserve-bytes: Give a whole number and a unit, such as 512 MiB or "
       "1 GiB; a number alone counts bytes.\n"},
      {"joins-per-s = nan", "f:1: joins-per-s: Give a number from 0.001 to 1e+09.\n"},
      {"joins-per-s = inf", "f:1: joins-per-s: Give a number from 0.001 to 1e+09.\n"},
      {"compute = \"host:1\"",
       "f:1: compute: Give an address and a port, such as 127.0.0.1:8780, "
       "[::1]:8780 or localhost:0.\n"},
      {"log-level = \"loud\"", "f:1: log-level: Give debug, info, warning, error or off.\n"},
      {"app = \"/nowhere/at/all\"", "f:1: app: There is no folder /nowhere/at/all.\n"},
      {"tls-key = \"/nowhere\"", "f:1: tls-key: There is no file /nowhere.\n"},
      {"state = \"a\\nb\"", "f:1: state: Give a text of UTF-8 without control characters.\n"},
      {"state = \"a\\u0000b\"", "f:1: state: Give a text of UTF-8 without control characters.\n"},
      {"public-url = \"https://me:word@x.example\"",
       "f:1: public-url: Give a URL without a user, a query, a fragment or quotes.\n"},
  };
  for (const auto& [text, line] : bad) EXPECT_EQ(faults_of(text), line);
}

TEST(TomlFile, WhatIsNoTomlHasItsLine) {
  for (const char* text :
       {"\nlease-ms = ", "\nlease-ms 1", "\nstate = \"a", "\nx = 1\nx = 2", "\n[",
        "\nstate = \"\xFF\"", "\nstate \u00da\"a\"", "\nstate = \u017c"}) {
    const std::string faults = faults_of(text);
    EXPECT_TRUE(faults.starts_with("f:2: This is no TOML: ") ||
                faults.starts_with("f:3: This is no TOML: "))
        << faults;
    EXPECT_EQ(std::ranges::count(faults, '\n'), 1) << faults;
  }
}

TEST(TomlFile, FaultsAreInTheOrderOfTheFile) {
  EXPECT_EQ(faults_of("zz = 1\nio-threads = 0\naa = 1\n"),
            "f:1: There is no setting zz.\n"
            "f:2: io-threads: Give a whole number from 1 to 64.\n"
            "f:3: There is no setting aa.\n");
}

TEST(TomlFile, AnUnknownKeyDoesNotShowItsValueNorDeceiveATerminal) {
  EXPECT_EQ(faults_of("admin-token = \"hf_secret\"").find("secret"), std::string::npos);
  const std::string faults = faults_of("\"\\u001b[2J\\u202e\" = 1");
  EXPECT_EQ(faults.find('\x1b'), std::string::npos);
  EXPECT_EQ(faults.find("\u202e"), std::string::npos);
  EXPECT_NE(faults.find("\\u{202E}"), std::string::npos) << faults;
}

TEST(TomlFile, AnUnreadableFileIsAFault) {
  const ScratchFolder folder;
  const std::string path = folder.file("server.toml");
  EXPECT_EQ(faults_of(read_file(path)), path + ": This file does not exist or cannot be read.\n");
  EXPECT_EQ(faults_of(read_file(folder.path())),
            folder.path().string() + ": This is a folder, not a file.\n");
  std::ofstream(path) << "lease-ms = \"60 s\"\n";
  EXPECT_EQ(read_file(path).entries.at("lease-ms").where, path + ":1");
  std::ofstream(path) << std::string((std::size_t{1} << 20) + 1, '#');
  EXPECT_EQ(faults_of(read_file(path)), path + ": This file has more than 1 MiB.\n");
}

}  // namespace
}  // namespace hyperflock::settings
