// Tests how the paths, queries and numbers in clients' requests are read.
#include "http/core/router.h"

#include <gtest/gtest.h>

#include <array>

namespace hyperflock::http {
namespace {

constexpr std::array<Route, 5> kRoutes{{
    {Method::get, "/"},
    {Method::get, "/api/studies/{}"},
    {Method::post, "/api/studies/{}/cancel"},
    {Method::post, "/api/studies/{}"},
    {Method::remove, "/api/studies/{}"},
}};

std::string capture_of(Method method, std::string_view path) {
  const Found found = find_route(kRoutes, method, path);
  const auto* match = std::get_if<Match>(&found);
  if (match == nullptr) return "no match, allow " + std::get<NoMatch>(found).allow;
  std::string text = std::to_string(match->route);
  for (const std::string& capture : match->captures) text += " " + capture;
  return text;
}

TEST(Router, FindsTheRouteAndItsCaptures) {
  EXPECT_EQ(capture_of(Method::get, "/"), "0");
  EXPECT_EQ(capture_of(Method::get, "/api/studies/7"), "1 7");
  EXPECT_EQ(capture_of(Method::post, "/api/studies/7/cancel"), "2 7");
  EXPECT_EQ(capture_of(Method::post, "/api/studies/7"), "3 7");
  EXPECT_EQ(capture_of(Method::remove, "/api/studies/7"), "4 7");
  EXPECT_EQ(capture_of(Method::head, "/api/studies/7"), "1 7");
}

TEST(Router, TellsAMissingPathFromAWrongMethod) {
  EXPECT_EQ(capture_of(Method::get, "/api/studies/7/cancel"), "no match, allow POST");
  EXPECT_EQ(capture_of(Method::put, "/api/studies/7"), "no match, allow GET, HEAD, POST, DELETE");
  for (const char* path : {"/api/studies/", "/api/studies", "/api/studies/7/", "//",
                           "/api/studies/7/cancel/x", "", "x"}) {
    EXPECT_EQ(capture_of(Method::get, path), "no match, allow ") << path;
  }
}

TEST(QueryValue, TakesOneKey) {
  EXPECT_EQ(query_value("after=3&limit=5", "limit"), "5");
  EXPECT_EQ(query_value("after=3&limit=5", "after"), "3");
  EXPECT_EQ(query_value("after=", "after"), "");
  EXPECT_EQ(query_value("xafter=3", "after"), std::nullopt);
  EXPECT_EQ(query_value("after", "after"), std::nullopt);
  EXPECT_EQ(query_value("", "after"), std::nullopt);
}

TEST(Unescaped, GivesWhatWasEscaped) {
  EXPECT_EQ(unescaped("a+b%20c%2B%C3%bc%00"), std::string("a b c+\xC3\xBC\0", 9));
  EXPECT_EQ(unescaped(""), "");
  for (const char* text : {"%", "%4", "a%4", "%G0", "%0G", "%+1", "%-1", "% 1"})
    EXPECT_EQ(unescaped(text), std::nullopt) << text;
}

TEST(ParseInteger, TakesDigitsOnly) {
  EXPECT_EQ(parse_integer("0", 10), 0);
  EXPECT_EQ(parse_integer("10", 10), 10);
  for (const char* text :
       {"", "11", "-1", "+1", " 1", "1 ", "1.0", "0x1", "99999999999999999999"}) {
    EXPECT_EQ(parse_integer(text, 10), std::nullopt) << text;
  }
}

TEST(Router, APageIsACursorAndALimit) {
  const auto usual = page_of("", 500, 5'000).value();
  EXPECT_EQ(usual.after, 0);
  EXPECT_EQ(usual.limit, 500);
  const auto asked = page_of("limit=5000&after=7", 500, 5'000).value();
  EXPECT_EQ(asked.after, 7);
  EXPECT_EQ(asked.limit, 5'000);
  EXPECT_EQ(page_of("after=-1", 500, 5'000).error().field, "after");
  for (const char* query : {"limit=0", "limit=5001", "limit=x", "limit="}) {
    const auto refused = page_of(query, 500, 5'000);
    ASSERT_FALSE(refused) << query;
    EXPECT_EQ(refused.error().code, "bad_number");
    EXPECT_EQ(refused.error().message, "limit must be in 1..5000.");
  }
}

}  // namespace
}  // namespace hyperflock::http
