// Tests what JSON text is read as, and what is refused. nlohmann's parser judges the same texts.
#include "protocol/json/json_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace hyperflock::protocol {
namespace {

std::string written(std::string_view text) {
  const Result<Json> json = parse_object(text);
  if (!json) return json.error().code + " " + json.error().field;
  std::string out;
  append_json(out, json->root());
  return out;
}

double number(const std::string& digits) {
  const Result<Json> json = parse_object(R"({"x":)" + digits + "}");
  if (!json) return std::numeric_limits<double>::quiet_NaN();
  Problem problem;
  return Value(*json, problem)["x"].as_number();
}

TEST(JsonReader, KeepsKindsAndOrder) {
  EXPECT_EQ(written(R"( { "b" : [ 1 , -2, 3.0, true, false, null, {} ], "a" : "x" } )"),
            R"({"b":[1,-2,3.0,true,false,null,{}],"a":"x"})");
  EXPECT_EQ(written(R"({"a":[[[[]]],[]]})"), R"({"a":[[[[]]],[]]})");
}

TEST(JsonReader, KeepsAllDigitsOfIntegers) {
  EXPECT_EQ(written(R"({"x":[9223372036854775807,-9223372036854775808,18446744073709551615]})"),
            R"({"x":[9223372036854775807,-9223372036854775808,18446744073709551615]})");
  EXPECT_EQ(written(R"({"x":[18446744073709551616,-9223372036854775809,100000000000000000000]})"),
            R"({"x":[18446744073709551616,-9223372036854775809,100000000000000000000]})");
  EXPECT_EQ(number("100000000000000000000"), 1e20);
}

TEST(JsonReader, ReadsEscapes) {
  EXPECT_EQ(written(R"({"a\n\u0041":"\ud83d\ude00\u0000\"\\\/"})"),
            "{\"a\\nA\":\"\U0001F600\\u0000\\\"\\\\/\"}");
}

TEST(JsonReader, NumbersAreTheNearestDoubles) {
  for (const char* digits : {"0.1", "1.7976931348623157e308", "5e-324", "2.2250738585072011e-308",
                             "1e-400", "123456789012345678901234567890.5", "9007199254740993.0",
                             "0.30000000000000004", "-0.0", "1E5", "8.5E-1"}) {
    EXPECT_EQ(number(digits), std::strtod(digits, nullptr)) << digits;
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const std::string digits = std::to_string(random()) + std::to_string(random()) + "e" +
                               std::to_string(static_cast<int>(random() % 600) - 330);
    const double wanted = std::strtod(digits.c_str(), nullptr);
    if (std::isfinite(wanted)) ASSERT_EQ(number(digits), wanted) << digits;
  }
}

TEST(JsonReader, RefusesNumbersThatAreNotFinite) {
  EXPECT_EQ(written(R"({"a":[0,{"b":1e999}]})"), "bad_number a[1].b");
  EXPECT_EQ(written(R"({"a":-1e999})"), "bad_number a");
  EXPECT_EQ(written(R"({"a":[1,1e99999999999999999999]})"), "bad_number a[1]");
  // The parser looks at the exponent alone.
  EXPECT_EQ(written(R"({"a":0e99999999999999999999})"), "bad_number a");
  EXPECT_EQ(written(R"({"a":NaN})"), "malformed ");
  EXPECT_EQ(written(R"({"a":Infinity})"), "malformed ");
}

TEST(JsonReader, RefusesRepeatedKeys) {
  EXPECT_EQ(written(R"({"a":1,"a":2})"), "malformed a");
  EXPECT_EQ(written(R"({"a":[{},{"b":1,"\u0062":2}]})"), "malformed a[1].b");
  std::string many = R"({"o":{)";
  for (int i = 0; i < 40; ++i) many += '"' + std::to_string(i) + R"(":0,)";
  EXPECT_EQ(written(many + R"("39":0}})"), "malformed o.39");
  EXPECT_EQ(written(many + R"("40":0}})").substr(0, 6), R"({"o":{)");
}

TEST(JsonReader, RefusesOtherTexts) {
  for (const char* text : {"",
                           " ",
                           "[]",
                           "1",
                           "{",
                           "}",
                           R"({"a"})",
                           R"({"a":})",
                           R"({"a":1,})",
                           R"({a:1})",
                           "{} x",
                           R"({"a":01})",
                           R"({"a":+1})",
                           R"({"a":.5})",
                           R"({"a":1.})",
                           R"({"a":"\x"})",
                           R"({"a":"\ud800"})",
                           "{\"a\":\"\n\"}",
                           "{\"a\":\"\xff\"}",
                           "{\"a\":\"\xc0\x80\"}",
                           "\xef\xbb\xbf{}",
                           "{/* no */}",
                           R"({"a":tru})",
                           "{}{}"}) {
    EXPECT_EQ(written(text), "malformed ") << text;
  }
  EXPECT_EQ(written(std::string("{}\0", 3)), "malformed ");
  const std::string deepest = R"({"a":)" + std::string(15, '[') + std::string(15, ']') + "}";
  EXPECT_EQ(written(deepest), deepest);
  EXPECT_EQ(written(R"({"a":)" + std::string(16, '[') + std::string(16, ']') + "}"), "malformed ");
  EXPECT_EQ(written(std::string(kMaxFrameBytes + 1, ' ')), "frame_too_large ");
}

// Both parsers read the same texts as the same values. The texts come from changing a few bytes of
// valid ones.
TEST(JsonReader, AgreesWithNlohmannOnRandomTexts) {
  const std::vector<std::string> seeds{
      R"({"a":[1,-2.5e3,"x\u00e9\n",true,null,{"b":{}}],"c":"\ud83d\ude00"})",
      R"({"number":0.1,"list":[[],[0],[10,20]],"text":"\"\\/\b\f\n\r\t"})",
      "{\"utf8\":\"\u00e9\u20ac\U0001F600\",\"false\":false}"};
  std::mt19937_64 random(11);
  constexpr std::string_view kBytes = "{}[]\",:\\u0123456789eE+-.truefalsn \t\n\x01\x80\xe9\xff";
  int valid = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = seeds[random() % seeds.size()];
    for (std::size_t changes = random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1);
      } else {
        text[at] = kBytes[random() % kBytes.size()];
      }
    }
    const auto judge = nlohmann::ordered_json::parse(text, nullptr, false);
    const Result<Json> json = parse_object(text);
    if (!json && json.error().message.starts_with("Name ")) continue;  // nlohmann keeps one of them
    ASSERT_EQ(json.has_value(), judge.is_object()) << text;
    if (!json) continue;
    ++valid;
    std::string out;
    append_json(out, json->root());
    ASSERT_EQ(nlohmann::ordered_json::parse(out), judge) << text;
  }
  EXPECT_GT(valid, 5'000);
}

}  // namespace
}  // namespace hyperflock::protocol
