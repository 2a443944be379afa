// Tests what the server knows of packs, and which packs a study gets (R76).
#include "protocol/runtime/packs.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hyperflock::protocol {
namespace {

using Names = std::vector<std::string>;

std::string entry(const std::string& name, int bytes, const std::string& needs = "") {
  return '"' + name + R"(":{"version":"1.)" + std::to_string(bytes) + R"(","base":"/runtime/)" +
         name + R"(-1/","files":[{"name":"a.zip","bytes":)" + std::to_string(10 * bytes) +
         R"(,"br":)" + std::to_string(bytes) + R"(,"gz":)" + std::to_string(2 * bytes) +
         R"(}],"imports":["x"],"needs":[)" + needs + "]}";
}

std::string list_of(const std::string& entries) {
  return R"({"pyodide":"314.0.3","packs":{)" + entries + "}}";
}

PackList some_packs() {
  return parse_pack_list(list_of(entry("scipy", 5) + ',' + entry("joblib", 3) + ',' +
                                 entry("scikit-learn", 7, R"("scipy","joblib")")))
      .value();
}

std::string refusal_of(const Result<std::vector<PackRef>>& packs) {
  if (packs) return "accepted";
  return packs.error().code + ' ' + packs.error().field;
}

TEST(Packs, R76_ListHasVersionsBytesAndNeeds) {
  const PackList list = some_packs();
  EXPECT_EQ(list.pyodide, "314.0.3");
  ASSERT_EQ(list.packs.size(), 3U);
  const Pack& pack = list.packs.at("scikit-learn");
  EXPECT_EQ(pack.version, "1.7");
  EXPECT_EQ(pack.download, (Runtime::Download{"/runtime/scikit-learn-1/a.zip", 7, 14}));
  EXPECT_EQ(pack.needs, (Names{"scipy", "joblib"}));
}

TEST(Packs, R76_AListThatCannotBeUsedSaysWhy) {
  for (const auto& [text, why] : {
           std::pair<std::string, std::string>{"", "no list of packs"},
           {"[]", "no list of packs"},
           {R"({"pyodide":"1","packs":[]})", "no list of packs"},
           {R"({"packs":{}})", "the version of Pyodide"},
           {list_of(R"("a":3)"), "its entry a is no pack"},
           {list_of(R"("a":{"version":"1","needs":[]})"), "its entry a is no pack"},
           {list_of(entry("../a", 1)), "is no pack"},
           {list_of(entry("a", 1, "7")), "its entry a is no pack"},
           {list_of(entry("a", 1, R"("gone")")), "a needs gone, which is not listed"},
           {list_of(entry("a", 1, R"("b")") + ',' + entry("b", 1, R"("a")")), "in a circle"},
           {list_of(entry("a", 1, R"("a")")), "in a circle"},
       }) {
    const auto list = parse_pack_list(text);
    ASSERT_FALSE(list.has_value()) << text;
    EXPECT_EQ(list.error().code, "packs_malformed");
    EXPECT_NE(list.error().message.find(why), std::string::npos) << list.error().message;
  }
}

TEST(Packs, R76_WhatPacksNeedCountsOnce) {
  const PackList list = some_packs();
  std::int64_t bytes = 0;
  for (const Pack* pack : with_needs(list, {{"scikit-learn", "1"}, {"scipy", "1"}, {"gone", "1"}}))
    bytes += pack->download.brotli;
  EXPECT_EQ(bytes, 15);
  EXPECT_TRUE(with_needs(list, {}).empty());
}

TEST(Packs, R76_BundleNamesItsPacksInItsComment) {
  EXPECT_EQ(packs_of_bundle("PK..hyperflock needs scikit-learn optuna pandas"),
            (Names{"pandas", "scikit-learn"}));
  for (const char* none :
       {"", "PK", "hyperflock needs ", "hyperflock needs  a", "hyperflock needs A",
        "hyperflock needs a ", "hyperflock needs optuna", "needs a"})
    EXPECT_EQ(packs_of_bundle(none), Names()) << none;
  // The text may also stand in the code before the comment.
  EXPECT_EQ(packs_of_bundle("hyperflock needs X; hyperflock needs a"), Names{"a"});
}

TEST(Packs, R76_StudyGetsThePacksOfItsBundleWithTheServersVersions) {
  const PackList list = some_packs();
  const std::vector<PackRef> both{{"joblib", "1.3"}, {"scikit-learn", "1.7"}};
  const Names bundle{"joblib", "scikit-learn"};
  EXPECT_EQ(choose_packs({}, bundle, list, "314.0.3").value(), both);  // an older client
  EXPECT_EQ(choose_packs({both[1], both[0]}, bundle, list, "").value(), both);
  EXPECT_TRUE(choose_packs({}, {}, PackList{}, "314.0.3").value().empty());
}

TEST(Packs, R76_PacksThatDoNotFitAreRefused) {
  const PackList list = some_packs();
  const PackRef scipy{"scipy", "1.5"};
  EXPECT_EQ(refusal_of(choose_packs({scipy}, {}, list, "")), "pack_mismatch packs[0].name");
  EXPECT_EQ(refusal_of(choose_packs({scipy}, {"joblib", "scipy"}, list, "")),
            "pack_mismatch packs");
  EXPECT_EQ(refusal_of(choose_packs({scipy, scipy}, {"scipy"}, list, "")),
            "bad_field packs[1].name");
  EXPECT_EQ(refusal_of(choose_packs({{"gone", "1"}}, {"gone"}, list, "")), "missing_pack packs[0]");
  EXPECT_EQ(refusal_of(choose_packs({}, {"scipy"}, PackList{}, "")), "missing_pack packs");
  EXPECT_EQ(refusal_of(choose_packs({{"scipy", "2"}}, {"scipy"}, list, "")),
            "runtime_mismatch packs[0].version");
  EXPECT_EQ(refusal_of(choose_packs({scipy}, {"scipy"}, list, "315.0")), "runtime_mismatch packs");
}

}  // namespace
}  // namespace hyperflock::protocol
