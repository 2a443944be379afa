// Tests the JSON of spans against the form of OTLP: the names and types of its protocol buffers in
// the JSON mapping, ids in hexadecimal digits, 64-bit numbers as texts.
#include "telemetry/span.h"

#include <gtest/gtest.h>

namespace hyperflock::telemetry {
namespace {

TEST(Span, IsWrittenInTheFormOfOtlp) {
  Span span{.context = {.high = 0x4bf92f3577b34da6, .low = 0xa3ce929d0e0e4736, .span = 0xf067aa0b},
            .parent = 7,
            .kind = Span::Kind::server,
            .name = "GET /api/studies/{}",
            .start_ns = 1'764'281'000'000'000'001,
            .end_ns = 1'764'281'000'000'000'999,
            .attributes = {{"http.route", "/api/studies/{}"},
                           {"http.response.status_code", std::int64_t{404}}},
            .links = {{.high = 1, .low = 2, .span = 3}},
            .error = "unknown_study"};
  EXPECT_EQ(
      otlp_json({span}, "1.2.3"),
      R"({"resourceSpans":[{"resource":{"attributes":[)"
      R"({"key":"service.name","value":{"stringValue":"hyperflock-server"}},)"
      R"({"key":"service.version","value":{"stringValue":"1.2.3"}}]},)"
      R"("scopeSpans":[{"scope":{"name":"hyperflock-server","version":"1.2.3"},"spans":[)"
      R"({"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00000000f067aa0b",)"
      R"("parentSpanId":"0000000000000007","name":"GET /api/studies/{}","kind":2,)"
      R"("startTimeUnixNano":"1764281000000000001","endTimeUnixNano":"1764281000000000999",)"
      R"("attributes":[{"key":"http.route","value":{"stringValue":"/api/studies/{}"}},)"
      R"({"key":"http.response.status_code","value":{"intValue":"404"}}],)"
      R"("links":[{"traceId":"00000000000000010000000000000002","spanId":"0000000000000003"}],)"
      R"("status":{"message":"unknown_study","code":2}}]}]}]})");
}

TEST(Span, LeavesOutWhatItHasNot) {
  const std::string json = otlp_json({{.context = {.low = 1, .span = 2}, .name = "a\xff\n"}}, "v");
  for (const char* absent : {"parentSpanId", "links", "status"})
    EXPECT_EQ(json.find(absent), std::string::npos) << json;
  EXPECT_NE(json.find(R"("name":"a�\n")"), std::string::npos) << json;
}

}  // namespace
}  // namespace hyperflock::telemetry
