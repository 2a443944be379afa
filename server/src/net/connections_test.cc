// Tests how connections are counted, by client and in total, and which connections a new one
// displaces.
#include "net/connections.h"

#include <gtest/gtest.h>

#include <vector>

namespace hyperflock::net {
namespace {

class Ended final : public Closable {
 public:
  void shut(int code) override { code_ = code; }
  void displace() override { displaced_ = true; }
  void check_progress(Instant) override {}
  int code_ = 0;
  bool displaced_ = false;
};

struct Open {
  explicit Open(Result<ConnectionSlot> taken) : slot(std::move(*taken)) { slot.attach(end); }
  std::shared_ptr<Ended> end = std::make_shared<Ended>();
  ConnectionSlot slot;
};

std::string code_of(const Result<ConnectionSlot>& slot) {
  return slot ? "open" : slot.error().code;
}

telemetry::Metrics& metrics() {
  static telemetry::Metrics all;
  return all;
}

TEST(Connections, AClientHasItsShare) {
  Connections all(2, 100, metrics());
  const Open one(all.admit("a"));
  {
    const Open two(all.admit("a"));
    EXPECT_EQ(code_of(all.admit("a")), "too_many_connections");
    EXPECT_EQ(code_of(all.admit("b")), "open");
  }
  EXPECT_EQ(code_of(all.admit("a")), "open");
  EXPECT_EQ(all.size(), 1U);
}

TEST(Connections, AConnectionOfAProxyCountsForTheClientThatItServes) {
  Connections all(1, 100, metrics());
  std::vector<Open> proxied;
  for (int i = 0; i < 5; ++i) proxied.emplace_back(all.admit(""));
  EXPECT_TRUE(proxied[0].slot.claim("a"));
  EXPECT_TRUE(proxied[0].slot.claim("a"));  // its next request
  EXPECT_TRUE(proxied[1].slot.claim("b"));
  EXPECT_EQ(proxied[2].slot.claim("a").error().code, "too_many_connections");
  EXPECT_EQ(code_of(all.admit("a")), "too_many_connections");
  EXPECT_EQ(proxied[1].slot.claim("a").error().code, "too_many_connections");
  EXPECT_TRUE(proxied[2].slot.claim("b"));  // the refused connection counts for nobody
  proxied[0].slot.unclaim();
  EXPECT_TRUE(proxied[1].slot.claim("a"));
}

TEST(Connections, AFullServerDisplacesTheOldestStranger) {
  Connections all(10, 3, metrics());
  Open known(all.admit("a"));
  known.slot.prove();
  Open second(all.admit("b"));
  const Open third(all.admit("c"));
  const Open fourth(all.admit("d"));
  EXPECT_TRUE(second.end->displaced_);
  EXPECT_FALSE(known.end->displaced_);
  EXPECT_FALSE(third.end->displaced_);
  second.slot = ConnectionSlot();
  EXPECT_EQ(all.size(), 3U);
  const Open fifth(all.admit("e"));
  EXPECT_TRUE(third.end->displaced_);
  EXPECT_FALSE(fourth.end->displaced_);
}

TEST(Connections, AServerFullOfKnownPeersRefuses) {
  Connections all(10, 2, metrics());
  Open one(all.admit("a"));
  Open two(all.admit("b"));
  one.slot.prove();
  two.slot.prove();
  EXPECT_EQ(code_of(all.admit("c")), "full");
  one.slot = ConnectionSlot();
  EXPECT_EQ(code_of(all.admit("c")), "open");
}

TEST(Connections, DisplacedConnectionsThatHaveNotEndedAreLimited) {
  Connections all(10, 2, metrics());
  std::vector<Open> open;
  for (int i = 0; i < 4; ++i) open.emplace_back(all.admit("c" + std::to_string(i)));
  EXPECT_EQ(code_of(all.admit("e")), "full");
  EXPECT_EQ(all.size(), 4U);
}

TEST(Connections, AClientOverItsShareDisplacesNobody) {
  Connections all(1, 2, metrics());
  const Open other(all.admit("b"));
  const Open one(all.admit("a"));
  EXPECT_EQ(code_of(all.admit("a")), "too_many_connections");
  EXPECT_FALSE(other.end->displaced_);
}

TEST(Connections, ARefusedConnectionLeavesNoTrace) {
  Connections all(1, 1, metrics());
  Open one(all.admit("a"));
  one.slot.prove();
  EXPECT_EQ(code_of(all.admit("b")), "full");
  one.slot = ConnectionSlot();
  EXPECT_EQ(code_of(all.admit("b")), "open");  // b's share was not used up by the refusal
}

}  // namespace
}  // namespace hyperflock::net
