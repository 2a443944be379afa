// Tests what adds packs to a folder and removes them, and that nothing is lost when that fails.
#include "packs/pack_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/testing/scratch_folder.h"
#include "blobs/sha256.h"

namespace hyperflock::packs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A source in memory. `before` is called before each file.
class FakeSource final : public PackSource {
 public:
  explicit FakeSource(const std::string& pyodide = "314.0.3") { json["pyodide"] = pyodide; }

  FakeSource& with(const std::string& name, const Names& needs = {},
                   const std::string& version = "1") {
    const std::string content = name + " in version " + version;
    const std::string folder = name + '-' + std::string(15, '0') + version;
    const std::string file = name + ".zip";
    files[folder + '/' + file] = content;
    files[folder + '/' + file + ".br"] = "br";
    json["packs"][name] = {{"version", version},
                           {"base", "/runtime/" + folder + '/'},
                           {"files", Json::array({{{"name", file},
                                                   {"sha256", blobs::sha256_hex(content)},
                                                   {"bytes", content.size()},
                                                   {"br", 2},
                                                   {"gz", nullptr}}})},
                           {"imports", Json::array({name})},
                           {"needs", needs}};
    return *this;
  }

  Result<std::string> list() const override { return json.dump(); }
  Result<std::string> file(const std::string& folder, const std::string& name,
                           Form form) const override {
    before();
    const auto found = files.find(folder + '/' + name + (form == Form::brotli ? ".br" : ""));
    if (found == files.end()) return Error{"pack_damaged", "There is no " + name + '.'};
    return found->second;
  }

  Json json{{"pyodide", ""}, {"packs", Json::object()}};
  std::map<std::string, std::string> files;
  std::function<void()> before = [] {};
};

class PackFolder : public ::testing::Test {
 protected:
  // Returns the packs that were added, or the error's code.
  std::string added(const Names& names, const PackSource& source,
                    const std::string& pyodide = "314.0.3") const {
    return text_of(add(folder(), names, source, pyodide));
  }
  std::string removed(const Names& names) const { return text_of(remove(folder(), names)); }

  static std::string text_of(const Result<Done>& done) {
    if (!done) return done.error().code;
    std::string out;
    for (const std::string& name : done->packs) out += (out.empty() ? "" : " ") + name;
    return out;
  }

  std::string listed() const {
    const auto found = read(folder());
    if (!found) return found.error().code;
    std::string out;
    for (const auto& [name, pack] : found->packs)
      out += (out.empty() ? "" : " ") + name + '=' + pack.version;
    return out;
  }

  // Returns the folders in the folder of packs, sorted.
  Names folders() const {
    Names names;
    for (const auto& entry : fs::directory_iterator(folder())) {
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  fs::path folder() const { return scratch_.path() / "packs"; }

  const ScratchFolder scratch_;
};

TEST_F(PackFolder, AddsPacksWithAllThatTheyNeed) {
  FakeSource source;
  source.with("scipy").with("joblib").with("scikit-learn", {"scipy", "joblib"}).with("pandas");
  EXPECT_EQ(added({"scikit-learn"}, source), "scikit-learn scipy joblib");
  EXPECT_EQ(listed(), "joblib=1 scikit-learn=1 scipy=1");
  EXPECT_EQ(content_of(folder() / "scipy-0000000000000001/scipy.zip"), "scipy in version 1");
  EXPECT_EQ(content_of(folder() / "scipy-0000000000000001/scipy.zip.br"), "br");
  // The list says of a pack what the source's list says.
  EXPECT_EQ(Json::parse(content_of(folder() / "packs.json"))["packs"]["scipy"],
            source.json["packs"]["scipy"]);
}

TEST_F(PackFolder, WhatIsThereIsNotFetchedAgain) {
  FakeSource source;
  source.with("scipy").with("pandas");
  EXPECT_EQ(added({"scipy"}, source), "scipy");
  int fetched = 0;
  source.before = [&fetched] { ++fetched; };
  const auto again = add(folder(), {"scipy"}, source, "");
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->bytes, 0U);
  EXPECT_EQ(fetched, 0);
  // A file that has changed on the disk is fetched again.
  std::ofstream(folder() / "scipy-0000000000000001/scipy.zip") << "scipy in version 2";
  EXPECT_EQ(added({"scipy", "pandas"}, source), "scipy pandas");
  EXPECT_EQ(content_of(folder() / "scipy-0000000000000001/scipy.zip"), "scipy in version 1");
}

TEST_F(PackFolder, AnotherVersionReplacesAPack) {
  EXPECT_EQ(added({"scipy"}, FakeSource().with("scipy")), "scipy");
  EXPECT_EQ(added({"scipy"}, FakeSource().with("scipy", {}, "2")), "scipy");
  EXPECT_EQ(listed(), "scipy=2");
  // A server that runs may still read the earlier files; the next command removes them.
  EXPECT_EQ(folders(), (Names{"scipy-0000000000000001", "scipy-0000000000000002"}));
  EXPECT_EQ(added({"pandas"}, FakeSource().with("pandas")), "pandas");
  EXPECT_EQ(folders(), (Names{"pandas-0000000000000001", "scipy-0000000000000002"}));
}

TEST_F(PackFolder, DamagedFilesAreRefusedAndThePacksStay) {
  FakeSource good;
  good.with("scipy");
  ASSERT_EQ(added({"scipy"}, good), "scipy");
  const std::string file = "pandas-0000000000000001/pandas.zip";
  for (const char* how : {"truncated", "longer", "other", "missing", "no brotli"}) {
    FakeSource source;
    source.with("pandas");
    std::string& content = source.files[file];
    if (std::string(how) == "truncated") content.pop_back();
    if (std::string(how) == "longer") content += '!';
    if (std::string(how) == "other") content[0] = 'P';
    if (std::string(how) == "missing") source.files.erase(file);
    if (std::string(how) == "no brotli") source.files.erase(file + ".br");
    EXPECT_EQ(added({"pandas"}, source), "pack_damaged") << how;
    EXPECT_EQ(listed(), "scipy=1") << how;
  }
}

TEST_F(PackFolder, ListsThatDoNotFitAreRefused) {
  EXPECT_EQ(added({"gone"}, FakeSource().with("scipy")), "missing_pack");
  EXPECT_EQ(added({"a"}, FakeSource().with("a", {"b"}).with("b", {"a"})), "packs_malformed");
  EXPECT_EQ(added({"a"}, FakeSource("315.0").with("a")), "runtime_mismatch");
  EXPECT_EQ(added({"a"}, FakeSource("315.0").with("a"), ""), "a");  // no runtime is known
  EXPECT_EQ(added({"b"}, FakeSource().with("b")), "runtime_mismatch");
  EXPECT_EQ(removed({}), "a");
  EXPECT_EQ(added({"b"}, FakeSource().with("b")), "b");
  for (const char* base : {"/runtime/../x-0000000000000001/", "/etc/x-0000000000000001/", "x"}) {
    FakeSource source;
    source.with("c").json["packs"]["c"]["base"] = base;
    EXPECT_EQ(added({"c"}, source), "packs_malformed") << base;
  }
  for (const auto& wrong : {nlohmann::ordered_json("../c.zip"), nlohmann::ordered_json(5)}) {
    FakeSource source;
    source.with("c").json["packs"]["c"]["files"][0]["name"] = wrong;
    EXPECT_EQ(added({"c"}, source), "packs_malformed") << wrong;
  }
  for (const auto& wrong : {nlohmann::ordered_json(5), nlohmann::ordered_json::array({5})}) {
    FakeSource source;
    source.with("c").json["packs"]["c"]["files"] = wrong;
    EXPECT_EQ(added({"c"}, source), "packs_malformed") << wrong;
  }
  EXPECT_EQ(listed(), "b=1");
}

TEST_F(PackFolder, ACommandThatIsKilledLeavesThePacksThatWereThere) {
  FakeSource source;
  source.with("scipy").with("pandas", {"pytz"}).with("pytz");
  ASSERT_EQ(added({"scipy"}, source), "scipy");
  // The program dies before each of the files in turn, as if by SIGKILL.
  for (int at = 0; at < 4; ++at) {
    EXPECT_EXIT(
        {
          int fetched = 0;
          source.before = [&] {
            if (fetched++ == at) std::_Exit(9);
          };
          (void)add(folder(), {"pandas"}, source, "");
          std::_Exit(0);
        },
        ::testing::ExitedWithCode(9), "");
    EXPECT_EQ(listed(), "scipy=1") << at;
  }
  EXPECT_EQ(added({"pandas"}, source), "pandas pytz");
  EXPECT_EQ(listed(), "pandas=1 pytz=1 scipy=1");
  EXPECT_EQ(folders().size(), 3U);
}

TEST_F(PackFolder, RemovesPacksThatNoOtherNeeds) {
  FakeSource source;
  source.with("scipy").with("scikit-learn", {"scipy"}).with("pandas");
  ASSERT_EQ(added({"scikit-learn", "pandas"}, source), "scikit-learn pandas scipy");
  EXPECT_EQ(removed({"gone"}), "missing_pack");
  EXPECT_EQ(removed({"scipy"}), "pack_needed");
  EXPECT_EQ(removed({"scipy", "scikit-learn"}), "scikit-learn scipy");
  EXPECT_EQ(listed(), "pandas=1");
  EXPECT_EQ(folders(), Names{"pandas-0000000000000001"});
}

TEST_F(PackFolder, OneCommandAtATimeChangesAFolder) {
  FakeSource source;
  source.with("scipy");
  std::string other;
  source.before = [&] { other = removed({}); };
  EXPECT_EQ(added({"scipy"}, source), "scipy");
  EXPECT_EQ(other, "packs_busy");
}

TEST_F(PackFolder, AFolderIsASourceToo) {
  FakeSource source;
  source.with("scipy");
  ASSERT_EQ(added({"scipy"}, source), "scipy");
  const fs::path second = scratch_.path() / "second";
  EXPECT_EQ(text_of(add(second, {"scipy"}, FolderSource(folder()), "")), "scipy");
  EXPECT_EQ(content_of(second / "scipy-0000000000000001/scipy.zip.br"), "br");
  const auto none = add(second, {"scipy"}, FolderSource(scratch_.path()), "");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, "not_found");
}

TEST_F(PackFolder, AListThatCannotBeReadIsNotReplaced) {
  fs::create_directories(folder());
  std::ofstream(folder() / "packs.json") << "{";
  EXPECT_EQ(added({"scipy"}, FakeSource().with("scipy")), "packs_malformed");
  EXPECT_EQ(removed({}), "packs_malformed");
  EXPECT_EQ(content_of(folder() / "packs.json"), "{");
}

}  // namespace
}  // namespace hyperflock::packs
