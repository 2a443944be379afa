// Tests ids of requests, and whose log lines get them.
#include "telemetry/request_context.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

namespace hyperflock::telemetry {
namespace {

constexpr std::string_view kGood = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(RequestContext, NewIdsAre32DigitsAndDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1'000; ++i) {
    const RequestContext request = new_request();
    EXPECT_TRUE(request);
    EXPECT_EQ(request.id().size(), 32U);
    EXPECT_EQ(request.id().find_first_not_of("0123456789abcdef"), std::string::npos);
    ids.insert(request.id());
  }
  EXPECT_EQ(ids.size(), 1'000U);
}

TEST(RequestContext, ReadsTraceparent) {
  const auto read = parse_traceparent(kGood);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id(), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(hex(read->span), "00f067aa0ba902b7");
  EXPECT_TRUE(read->sampled);
  EXPECT_FALSE(
      parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02")->sampled);
  // A later version may have more parts.
  EXPECT_TRUE(parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what"));
}

TEST(RequestContext, RefusesInvalidTraceparent) {
  for (const std::string_view text :
       {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473\n-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g"})
    EXPECT_FALSE(parse_traceparent(text)) << text;
}

TEST(RequestContext, ScopesNestAndBelongToTheirThread) {
  EXPECT_FALSE(current_request());
  const RequestContext outer = new_request();
  const RequestContext inner = new_request();
  {
    const RequestScope first(outer);
    {
      const RequestScope second(inner);
      EXPECT_EQ(current_request(), inner);
      std::thread([] { EXPECT_FALSE(current_request()); }).join();
    }
    EXPECT_EQ(current_request(), outer);
  }
  EXPECT_FALSE(current_request());
}

}  // namespace
}  // namespace hyperflock::telemetry
