// Tests servers that share one PostgreSQL database: one serves, the others wait (--wait-for-shard).
// Each is a process of its own, which the tests stop, continue and kill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "blobs/sha256.h"
#include "tests/postgres/servers.h"

namespace hyperflock::app {
namespace {

class SpareTest : public ServersOfOneDatabase {};

TEST_F(SpareTest, WaitsAndGoesOnWhereTheKilledServerWas) {
  Node first = start("one");
  ASSERT_TRUE(serves(first));
  const std::int64_t study = submit(first, 10);
  const TestDevice device = join(first);
  auto phone = std::make_unique<Phone>(first.compute, device);
  const AttemptId done = phone->ready().attempt;
  ASSERT_EQ(phone->result(done), Verdict::accepted);
  const AttemptId held = phone->ready().attempt;

  const Node second = start("two");
  const Node third = start("three");
  for (const Node* spare : {&second, &third}) {
    ASSERT_TRUE(waits(*spare));
    EXPECT_EQ(status_and_code(get(spare->compute, "/readyz")), "503 shard_waiting");
    EXPECT_EQ(get(spare->compute, "/healthz").status, 200);
    EXPECT_EQ(get(spare->console, "/healthz").status, 200);
  }
  first.program->end(SIGKILL);
  // Exactly one of the two takes over.
  ASSERT_TRUE(until([&] { return is_ready(second) || is_ready(third); }));
  const bool is_second = is_ready(second);
  const Node& next = is_second ? second : third;
  const Node& other = is_second ? third : second;
  EXPECT_TRUE(waits(other));

  // Rows, files, leases and devices are there.
  EXPECT_EQ(complete(next, study), "1");
  EXPECT_TRUE(std::filesystem::exists(folder_.file(is_second ? "two" : "three") + "/blobs/" +
                                      blobs::sha256_hex("a bundle").substr(0, 2)));
  Phone again(next.compute, device, {held});
  EXPECT_EQ(again.result(held), Verdict::accepted);
  EXPECT_EQ(again.result(done), Verdict::accepted);
  EXPECT_EQ(complete(next, study), "2");
}

TEST_F(SpareTest, DoesNotWaitForTheTimeOfAServerWhoseProcessIsDead) {
  Node first = start("one");
  ASSERT_TRUE(until([&] {
    return sql("SELECT count(*) FROM pg_stat_activity, shards WHERE application_name ="
               " 'hyperflock shard ' || files || '/1'") == "1";
  }));
  const Node second = start("two");
  // The spare has looked, so it has seen that the first one lives.
  ASSERT_TRUE(until([&] { return log_of("two").contains(R"("event":"shard_seen")"); }));
  first.program->signal(SIGSTOP);  // it renews nothing from now on
  sql("UPDATE shards SET expires = now() + interval '1 hour'");
  EXPECT_TRUE(waits(second));
  first.program->end(SIGKILL);
  EXPECT_TRUE(serves(second));
  EXPECT_EQ(sql("SELECT epoch FROM shards"), "2");
}

TEST_F(SpareTest, AServerThatWasStoppedMeanwhileStoresNothingAndWaits) {
  Node first = start("one");
  ASSERT_TRUE(serves(first));
  const std::int64_t study = submit(first, 10);
  const TestDevice device = join(first);
  Phone stale(first.compute, device);
  const AttemptId held = stale.ready().attempt;
  Node second = start("two");
  ASSERT_TRUE(waits(second));

  first.program->signal(SIGSTOP);
  // These wait in the sockets of the stopped server.
  stale.send(TestWorker::result(held, 0.125, 1));
  stale.send(protocol::Ready{});
  ASSERT_TRUE(serves(second));
  Phone phone(second.compute, device, {held});
  EXPECT_EQ(phone.result(held), Verdict::accepted);
  const std::string attempts = sql("SELECT count(*) FROM attempts");

  first.program->signal(SIGCONT);
  EXPECT_TRUE(waits(first));
  EXPECT_THAT(log_of("one"), testing::HasSubstr(R"("event":"shard_lost")"));
  // If it reads the message before it closes the socket, it may ask the phone to wait.
  for (std::string text = stale.socket().receive_text(); !text.empty();
       text = stale.socket().receive_text())
    EXPECT_THAT(text, testing::HasSubstr(R"("type":"wait")")) << "the stale server answered";
  EXPECT_EQ(complete(second, study), "1");
  EXPECT_EQ(sql("SELECT count(*) FROM attempts"), attempts);
  EXPECT_EQ(sql("SELECT count(*) FROM trials WHERE state = 1"), "1");
  EXPECT_EQ(get(second.console, "/readyz").status, 200);

  // A server that ends leaves the database at once, and the first one goes on.
  EXPECT_EQ(second.program->end(SIGTERM), 0);
  ASSERT_TRUE(serves(first));
  EXPECT_EQ(complete(first, study), "1");
  Phone back(first.compute, device);
  EXPECT_EQ(back.result(back.ready().attempt), Verdict::accepted);
  EXPECT_EQ(first.program->end(SIGTERM), 0);
}

TEST_F(SpareTest, ARestartOfTheDatabaseMovesNothing) {
  const Node first = start("one");
  ASSERT_TRUE(serves(first));
  const Node second = start("two");
  ASSERT_TRUE(waits(second));
  const std::string epoch = sql("SELECT epoch FROM shards");
  database_.restart();
  // A request that comes before the server is connected again may get 503, and its connections
  // for reading and for writing come back one after the other.
  ASSERT_TRUE(until([&] {
    return rest(first, "GET", "/api/studies").status == 200 &&
           rest(first, "PUT", "/api/blobs/" + blobs::sha256_hex("probe"), "probe").status == 201;
  }));
  const std::int64_t study = submit(first, 1);
  EXPECT_EQ(complete(first, study), "0");
  // The time of the first server is over, but it has not had time to renew the shard. The spare
  // would take a shard that it finds so before the restart.
  second.program->signal(SIGSTOP);
  sql("UPDATE shards SET expires = now() - interval '1 hour'");
  database_.restart();
  second.program->signal(SIGCONT);
  EXPECT_TRUE(until([&] { return sql("SELECT expires > now() FROM shards") == "t"; }));
  EXPECT_EQ(sql("SELECT epoch FROM shards"), epoch);
  EXPECT_TRUE(waits(second));
}

// A device that computes all the time, and sends what was not acknowledged again, to whichever
// server serves.
class WorkingDevice {
 public:
  WorkingDevice(const TestDevice& device, const std::atomic<std::uint16_t>& port,
                const std::atomic<bool>& stop)
      : device_(device), thread_([this, &port, &stop] {
          while (!stop || held_) {
            try {
              work(port, stop);
            } catch (const std::runtime_error&) {
              std::this_thread::sleep_for(kAgain);  // it is refused, or nobody listens
            }
          }
        }) {}
  std::set<std::int64_t> trials() {
    thread_.join();
    return std::move(trials_);
  }

 private:
  static constexpr std::chrono::milliseconds kAgain{50};

  void work(const std::atomic<std::uint16_t>& port, const std::atomic<bool>& stop) {
    std::vector<AttemptId> held;
    if (held_) held.push_back(held_->attempt);
    net::TestWebSocket socket(port, "/ws/worker");
    socket.send(protocol::serialize(TestWorker::hello(device_, std::move(held))));
    if (!held_) socket.send(protocol::serialize(protocol::Ready{}));
    for (;;) {
      if (held_) {
        const std::int64_t attempt = to_int(held_->attempt);
        const auto value = static_cast<double>(attempt);
        auto result = TestWorker::result(held_->attempt, value, attempt, !stop);
        socket.send(protocol::serialize(result));
      }
      const auto message = protocol::parse_server_message(socket.receive_text());
      if (!message) return;  // the server closed
      if (const auto* offer = std::get_if<protocol::LeaseOffer>(&*message)) held_ = offer->lease;
      if (const auto* ack = std::get_if<protocol::ResultAck>(&*message)) {
        if (ack->verdict == Verdict::accepted) trials_.insert(to_int(held_->trial));
        held_ = ack->lease;
        if (!held_) return;
      }
    }
  }

  const TestDevice device_;
  std::optional<protocol::Lease> held_;
  std::set<std::int64_t> trials_;  // whose results were accepted
  std::thread thread_;
};

// Two devices work on while the servers are ended, killed or stopped, or the database is restarted.
// HYPERFLOCK_SPARE_ROUNDS=20 makes so many rounds, in an order by HYPERFLOCK_SPARE_SEED.
TEST_F(SpareTest, EachResultCountsOnceThroughTakeovers) {
  const auto number = [](const char* name, int fallback) {
    const char* const text = std::getenv(name);
    return text == nullptr ? fallback : std::atoi(text);
  };
  enum class Trouble { end, kill, stop, restart };
  std::vector<Trouble> rounds{Trouble::end, Trouble::restart};
  std::mt19937 random(static_cast<unsigned>(number("HYPERFLOCK_SPARE_SEED", 1)));
  if (const int more = number("HYPERFLOCK_SPARE_ROUNDS", 0); more > 0) {
    rounds.clear();
    for (int i = 0; i < more; ++i) rounds.push_back(static_cast<Trouble>(random() % 4));
  }

  const std::array<std::string, 3> names{"one", "two", "three"};
  std::array<Node, 3> nodes;
  nodes[0] = start(names[0]);
  ASSERT_TRUE(serves(nodes[0]));
  const std::int64_t study = submit(nodes[0], 10'000);
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    nodes[i] = start(names[i]);
    ASSERT_TRUE(waits(nodes[i]));
  }
  std::size_t serving = 0;
  std::atomic<std::uint16_t> port = nodes[0].compute;
  std::atomic<bool> stop = false;
  std::array<WorkingDevice, 2> devices{WorkingDevice(join(nodes[0]), port, stop),
                                       WorkingDevice(join(nodes[0]), port, stop)};
  const auto stored = [&] { return std::stoll(sql("SELECT complete FROM study_progress")); };
  const auto progresses = [&] {
    const auto before = stored();
    return until([&] { return stored() > before + 4; });
  };
  // Finds which of the others serves now.
  const auto follow = [&](std::size_t before) {
    return until([&] {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (i == before || !is_ready(nodes[i])) continue;
        serving = i;
        port = nodes[i].compute;
        return true;
      }
      return false;
    });
  };
  for (const Trouble trouble : rounds) {
    EXPECT_TRUE(progresses());
    const std::size_t before = serving;
    Node& node = nodes[before];
    const auto began = std::chrono::steady_clock::now();
    switch (trouble) {
      case Trouble::end:
      case Trouble::kill:
        node.program->end(trouble == Trouble::end ? SIGTERM : SIGKILL);
        EXPECT_TRUE(until([&] {
          return is_ready(nodes[(before + 1) % 3]) || is_ready(nodes[(before + 2) % 3]);
        }));
        EXPECT_TRUE(follow(before));
        break;
      case Trouble::stop:
        node.program->signal(SIGSTOP);
        EXPECT_TRUE(follow(before));
        node.program->signal(SIGCONT);
        EXPECT_TRUE(waits(node));
        break;
      case Trouble::restart:
        database_.restart();
        break;
    }
    std::printf("trouble %d: server %zu after %zu, %lld ms, %lld results\n",
                static_cast<int>(trouble), serving, before,
                static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                           std::chrono::steady_clock::now() - began)
                                           .count()),
                static_cast<long long>(stored()));
    if (trouble == Trouble::end || trouble == Trouble::kill) {
      node = start(names[before]);
      EXPECT_TRUE(waits(node));
    }
  }
  EXPECT_TRUE(progresses());
  stop = true;
  std::set<std::int64_t> accepted;
  std::size_t sum = 0;
  for (WorkingDevice& device : devices) {
    const auto trials = device.trials();
    sum += trials.size();
    accepted.insert(trials.begin(), trials.end());
  }
  EXPECT_EQ(accepted.size(), sum) << "a trial was accepted from two devices";
  EXPECT_EQ(static_cast<std::int64_t>(sum), stored());
  EXPECT_EQ(complete(nodes[serving], study), std::to_string(sum));
  EXPECT_EQ(sql("SELECT count(*) FROM trials WHERE state = 1"), std::to_string(sum));
  EXPECT_EQ(sql("SELECT count(*) FROM (SELECT 1 FROM attempts WHERE verdict = 0"
                " GROUP BY study, number HAVING count(*) > 1) AS twice"),
            "0");
}

TEST_F(SpareTest, ASpareEndsWhenItIsAsked) {
  const Node first = start("one");
  ASSERT_TRUE(serves(first));
  Node second = start("two");
  ASSERT_TRUE(waits(second));
  EXPECT_EQ(second.program->end(SIGTERM), 0);
  EXPECT_EQ(get(first.console, "/readyz").status, 200);
}

}  // namespace
}  // namespace hyperflock::app
