// Tests that connections end together with the token that opened them.
#include "hub/token_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hyperflock::hub {
namespace {

struct FakePeer final : Peer {
  void send(std::string) override {}
  void close(int code, std::string) override { closed.push_back(code); }
  void credit() override {}
  std::vector<int> closed;
};

TEST(TokenSessions, EndWithTheirTokenAndNoOther) {
  TokenSessions sessions;
  const auto one = std::make_shared<FakePeer>();
  const auto two = std::make_shared<FakePeer>();
  const auto other = std::make_shared<FakePeer>();
  sessions.add(1, one);
  sessions.add(1, two);
  sessions.add(2, other);
  sessions.end(1);
  EXPECT_THAT(one->closed, testing::ElementsAre(4004));
  EXPECT_THAT(two->closed, testing::ElementsAre(4004));
  EXPECT_THAT(other->closed, testing::IsEmpty());
  sessions.end(1);
  EXPECT_THAT(one->closed, testing::SizeIs(1));
}

// The token ends just after the session has checked it.
TEST(TokenSessions, OneThatComesTooLateIsClosedAtOnce) {
  TokenSessions sessions;
  sessions.end(1);
  const auto late = std::make_shared<FakePeer>();
  sessions.add(1, late);
  EXPECT_THAT(late->closed, testing::ElementsAre(4004));
  EXPECT_EQ(sessions.tokens(), 0U);
}

TEST(TokenSessions, SomebodyWhoIsSuspendedMayComeBackByTheSameToken) {
  TokenSessions sessions;
  const auto before = std::make_shared<FakePeer>();
  sessions.add(1, before);
  sessions.drop(1);
  EXPECT_THAT(before->closed, testing::ElementsAre(4004));
  const auto after = std::make_shared<FakePeer>();
  sessions.add(1, after);
  EXPECT_THAT(after->closed, testing::IsEmpty());
}

TEST(TokenSessions, ForgetsConnectionsThatAreGone) {
  TokenSessions sessions;
  for (std::int64_t token = 1; token <= 2'000; ++token)
    sessions.add(token, std::make_shared<FakePeer>());
  EXPECT_LE(sessions.tokens(), 1'001U);
}

}  // namespace
}  // namespace hyperflock::hub
