// Reads every golden file. tests/protocol/golden/README.md explains the forms of these files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "paths.h"
#include "protocol/codec.h"

namespace hyperflock::protocol {
namespace {

using nlohmann::json;

const std::filesystem::path kGolden =
    std::filesystem::path(kSourceDirectory) / "tests/protocol/golden";

std::string file_text(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::vector<std::string> files_in(const char* folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden / folder)) {
    out.push_back(folder + ("/" + entry.path().stem().string()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

json read_file(const std::string& name) {
  return json::parse(file_text(kGolden / (name + ".json")));
}

std::string readable(const ::testing::TestParamInfo<std::string>& param) {
  return param.param.substr(param.param.rfind('/') + 1);
}

// Writes a parsed value again. Returns its text, or the error.
template <typename Parsed>
Result<std::string> again(const Result<Parsed>& parsed) {
  if (!parsed) return parsed.error();
  return serialize(*parsed);
}
Result<std::string> round_trip(const std::string& direction, const std::string& text) {
  return direction == "client" ? again(parse_client_message(text))
                               : again(parse_server_message(text));
}

class GoldenValid : public ::testing::TestWithParam<std::string> {};
class GoldenInvalid : public ::testing::TestWithParam<std::string> {};
class GoldenSpecValid : public ::testing::TestWithParam<std::string> {};
class GoldenSpecInvalid : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Files, GoldenValid, ::testing::ValuesIn(files_in("valid")), readable);
INSTANTIATE_TEST_SUITE_P(Files, GoldenInvalid, ::testing::ValuesIn(files_in("invalid")), readable);
INSTANTIATE_TEST_SUITE_P(Files, GoldenSpecValid, ::testing::ValuesIn(files_in("study_spec/valid")),
                         readable);
INSTANTIATE_TEST_SUITE_P(Files, GoldenSpecInvalid,
                         ::testing::ValuesIn(files_in("study_spec/invalid")), readable);

TEST_P(GoldenValid, R1_IsReadAndWrittenAgain) {
  const json file = read_file(GetParam());
  const Result<std::string> text = round_trip(file["direction"], file["message"].dump());
  ASSERT_TRUE(text.has_value()) << text.error().code << ' ' << text.error().message;
  const json& expected = file.contains("normal") ? file["normal"] : file["message"];
  EXPECT_EQ(json::parse(*text), expected);
}

TEST_P(GoldenInvalid, R3_IsRefusedWithItsCode) {
  const json file = read_file(GetParam());
  const Result<std::string> text = round_trip(file["direction"], file["text"]);
  ASSERT_FALSE(text.has_value()) << *text;
  EXPECT_EQ(text.error().code, file["code"].get<std::string>()) << text.error().message;
  EXPECT_EQ(text.error().field, file.value("field", "")) << text.error().message;
  EXPECT_FALSE(text.error().message.empty());
}

TEST_P(GoldenSpecValid, KindsAreKept) {
  const json file = read_file(GetParam());
  const Result<StudySpec> spec = parse_study_spec(file["spec"].dump());
  ASSERT_TRUE(spec.has_value()) << spec.error().code << ' ' << spec.error().field;
  const json& expected = file.contains("normal") ? file["normal"] : file["spec"];
  // The texts are compared, because 1 and 1.0 are equal as JSON values.
  EXPECT_EQ(json::parse(serialize_study_spec(*spec)).dump(), expected.dump());
  EXPECT_EQ(parse_study_spec(serialize_study_spec(*spec)).value(), *spec);
}

TEST_P(GoldenSpecInvalid, IsRefusedWithItsCode) {
  const json file = read_file(GetParam());
  const Result<StudySpec> spec = parse_study_spec(file["text"].get<std::string>());
  ASSERT_FALSE(spec.has_value());
  EXPECT_EQ(spec.error().code, file["code"].get<std::string>()) << spec.error().message;
  EXPECT_EQ(spec.error().field, file.value("field", "")) << spec.error().message;
}

TEST(Golden, EveryTypeOfTheProtocolHasAFile) {
  std::set<std::string> types;
  for (const std::string& name : files_in("valid"))
    types.insert(read_file(name)["message"]["type"]);
  EXPECT_EQ(types, (std::set<std::string>{"ack",     "call",   "error",  "heartbeat", "hello",
                                          "lease",   "log",    "output", "ready",     "refused",
                                          "release", "reply",  "report", "result",    "result_ack",
                                          "revoke",  "update", "wait",   "watch",     "welcome"}));
}

TEST(Golden, R32_Seeds) {
  const json rows = read_file("seeds");
  ASSERT_GT(rows.size(), 10U);
  for (const json& row : rows) {
    EXPECT_EQ(trial_seed(row["study_seed"], row["number"]), row["seed"].get<std::uint32_t>())
        << row;
  }
}

TEST(Golden, R30_GridPoints) {
  const json grids = read_file("grid");
  ASSERT_GT(grids.size(), 5U);
  json spec = read_file("study_spec/valid/full")["spec"];
  for (const json& grid : grids) {
    spec["space"] = grid["space"];
    const Result<StudySpec> parsed = parse_study_spec(spec.dump());
    ASSERT_TRUE(parsed.has_value()) << parsed.error().code << ' ' << parsed.error().field;
    ASSERT_EQ(grid_size(parsed.value().space), grid["size"].get<std::int64_t>());
    for (std::size_t i = 0; i < grid["points"].size(); ++i) {
      EXPECT_EQ(grid_point(parsed.value().space, static_cast<std::int64_t>(i)),
                grid["points"][i].get<std::string>());
    }
  }
}

TEST(Golden, R60_DrawnPoints) {
  // nlohmann::json would sort the keys of values that are dicts; ordered_json keeps their order.
  using nlohmann::ordered_json;
  const auto cases = ordered_json::parse(file_text(kGolden / "samples.json"));
  ASSERT_GT(cases.size(), 3U);
  ordered_json spec = read_file("study_spec/valid/full")["spec"];
  for (const ordered_json& one : cases) {
    for (const char* field : {"kind", "seed", "space", "trials"}) spec[field] = one[field];
    const Result<StudySpec> parsed = parse_study_spec(spec.dump());
    ASSERT_TRUE(parsed.has_value()) << parsed.error().code << ' ' << parsed.error().field;
    ASSERT_GT(one["points"].size(), 5U);
    for (const auto& [number, text] : one["points"].items()) {
      EXPECT_EQ(trial_params(parsed.value(), std::stoll(number)), text.get<std::string>())
          << one["kind"] << ' ' << number;
    }
  }
}

}  // namespace
}  // namespace hyperflock::protocol
