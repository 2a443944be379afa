// Tests cases that the golden files cannot contain: frames as large as a limit, invalid UTF-8,
// repeated keys, and the order of checks.
#include "protocol/codec.h"

#include <gtest/gtest.h>

namespace hyperflock::protocol {
namespace {

Error client_error(std::string_view text) {
  const Result<ClientMessage> parsed = parse_client_message(text);
  return parsed.has_value() ? Error{"parsed", ""} : parsed.error();
}

TEST(Codec, R1_FrameOfOneMebibyteIsReadAndOneByteMoreIsNot) {
  std::string text = R"({"type":"ready","pad":")";
  text.append((std::size_t{1} << 20) - text.size() - 2, 'x');
  text += "\"}";
  ASSERT_EQ(text.size(), std::size_t{1} << 20);
  EXPECT_TRUE(parse_client_message(text).has_value());
  text.insert(text.size() - 2, "x");
  EXPECT_EQ(client_error(text).code, "frame_too_large");
}

TEST(Codec, R1_AMebibyteOfBracketsIsRefused) {
  EXPECT_EQ(client_error(std::string(std::size_t{1} << 20, '[')).code, "malformed");
  std::string objects;
  while (objects.size() < (std::size_t{1} << 20) - 5) objects += R"({"a":)";
  EXPECT_EQ(client_error(objects).code, "malformed");
}

TEST(Codec, R1_InvalidUtf8IsMalformed) {
  EXPECT_EQ(client_error("{\"type\":\"ready\",\"x\":\"\xff\"}").code, "malformed");
  EXPECT_EQ(client_error("{\"type\":\"ready\",\"x\":\"\xc3\"}").code, "malformed");
  EXPECT_EQ(client_error("{\"type\":\"ready\",\"x\":\"\xed\xa0\x80\"}").code,
            "malformed");  // a surrogate
  EXPECT_EQ(client_error(R"({"type":"ready","x":"\ud800"})").code, "malformed");
}

TEST(Codec, R1_AKeyThatComesTwiceIsMalformedWhereverItStands) {
  EXPECT_EQ(client_error(R"({"type":"ready","type":"ready"})").code, "malformed");
  const Error nested = client_error(R"({"type":"ready","x":[{"a":1},{"b":{"c":1,"d":2,"c":3}}]})");
  EXPECT_EQ(nested.code, "malformed");
  EXPECT_EQ(nested.field, "x[1].b.c");
  // The same name may appear in different objects. Escapes do not make a name different.
  EXPECT_EQ(client_error(R"({"type":"ready","x":{"type":1},"y":{"type":2}})").code, "parsed");
  EXPECT_EQ(client_error(R"({"type":"ready","x":1,"\u0078":2})").code, "malformed");
}

TEST(Codec, R1_AKeyThatComesTwiceIsFoundAmongManyAtLittleCost) {
  std::string text = R"({"type":"ready")";
  for (int i = 0; text.size() < (std::size_t{1} << 20) - 32; ++i)
    text += ",\"k" + std::to_string(i) + "\":0";
  EXPECT_EQ(client_error(text + "}").code, "parsed");
  const Error twice = client_error(text + ",\"k7\":0}");
  EXPECT_EQ(twice.code, "malformed");
  EXPECT_EQ(twice.field, "k7");
}

TEST(Codec, R6_HelloOfAnotherVersionIsReadWhateverItsFields) {
  const Result<ClientMessage> parsed =
      parse_client_message(R"({"type":"hello","protocol":2,"role":"device","passport":[1]})");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(std::get<Hello>(*parsed).protocol, 2);
}

TEST(Codec, R59_ColumnsOfASeriesFitItsSteps) {
  const auto error = [](const std::string& series) {
    return client_error(R"({"type":"report","attempt":1,"seq":1,"points":[],"series":)" + series +
                        "}");
  };
  const Error back = error(R"({"steps":[1,1],"columns":[]})");
  EXPECT_EQ(back.code, "bad_field");
  EXPECT_EQ(back.field, "series.steps");
  EXPECT_EQ(error(R"({"steps":[2,1],"columns":[]})").field, "series.steps");
  const Error twice = error(R"({"steps":[1],"columns":[["a",[1]],["b",[1]],["a",[2]]]})");
  EXPECT_EQ(twice.code, "bad_field");
  EXPECT_EQ(twice.field, "series.columns[2]");
  const Error longer = error(R"({"steps":[1],"columns":[["a",[1]],["b",[1,2]]]})");
  EXPECT_EQ(longer.code, "too_many");
  EXPECT_EQ(longer.field, "series.columns[1]");
  EXPECT_EQ(error(R"({"steps":[1,2],"columns":[["a",[1]],["b",[null,2]]]})").code, "parsed");
}

TEST(Codec, FirstWrongFieldInTheOrderOfTheTableIsNamed) {
  EXPECT_EQ(client_error(R"({"type":"report","points":7,"seq":"x","attempt":0})").field, "attempt");
  EXPECT_EQ(client_error(R"({"type":"report","points":7,"seq":"x","attempt":1})").field, "seq");
}

TEST(Codec, NumberThatOverflowsIsNamedInsideAnUnknownFieldToo) {
  const Error error = client_error(R"({"type":"ready","a":[0,{"b":[[1,2],1e999]}]})");
  EXPECT_EQ(error.code, "bad_number");
  EXPECT_EQ(error.field, "a[1].b[1]");
}

TEST(Codec, WholeFloatIsAnInteger) {
  const Result<ClientMessage> parsed =
      parse_client_message(R"({"type":"watch","study":5.0,"after":1e3})");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(std::get<Watch>(*parsed).study, StudyId{5});
  EXPECT_EQ(std::get<Watch>(*parsed).after, 1000);
}

TEST(Codec, ValuesOfAPrunedResultAreNotRead) {
  const Result<ClientMessage> parsed = parse_client_message(
      R"({"type":"result","attempt":1,"seq":1,"outcome":"pruned","values":"none","error":7})");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_TRUE(std::get<TrialResult>(*parsed).values.empty());
  EXPECT_FALSE(std::get<TrialResult>(*parsed).failure.has_value());
}

TEST(Codec, TextKeepsNulAndEveryControlCharacter) {
  ErrorMessage message{.code = "x", .message = "", .field = "", .id = {}, .attempt = {}};
  for (char c = 0; c < 0x20; ++c) message.message += c;
  const Result<ServerMessage> parsed = parse_server_message(serialize(ServerMessage(message)));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(std::get<ErrorMessage>(*parsed), message);
}

TEST(StudyCodec, ProvenanceKeepsOrderKindsAndLargeIntegers) {
  const std::string provenance =
      R"({"z":1.0,"a":{"n":123456789012345678901234567890},"m":[null,true,-0.0,18446744073709551615]})";
  const std::string text =
      R"({"name":"n","submit_key":"k","direction":"minimize","entry":"m:f","bundle":{"sha256":")" +
      std::string(64, 'a') +
      R"(","bytes":1},"space":[{"name":"x","values":[1]}],"runtime":{"chainer":"7.8.1"},"provenance":)" +
      provenance + "}";
  const Result<StudySpec> spec = parse_study_spec(text);
  ASSERT_TRUE(spec.has_value()) << spec.error().field;
  EXPECT_EQ(spec.value().provenance_json, provenance);
}

}  // namespace
}  // namespace hyperflock::protocol
