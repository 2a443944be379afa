// Tests that a thread which hangs does not answer, and that it answers again afterwards.
#include "app/liveness.h"

#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <latch>
#include <thread>

#include "base/testing/patience.h"

namespace hyperflock::app {
namespace {

TEST(Liveness, AllAreAllThreads) {
  Liveness liveness(2);
  EXPECT_TRUE(liveness.all_answered()) << "nothing was asked";
  const std::uint64_t first = liveness.ask();
  liveness.answer(0, first);
  EXPECT_FALSE(liveness.all_answered());
  liveness.answer(1, first);
  EXPECT_TRUE(liveness.all_answered());
  const std::uint64_t second = liveness.ask();
  liveness.answer(0, second);
  liveness.answer(1, first);
  EXPECT_FALSE(liveness.all_answered()) << "an answer to an earlier question";
}

TEST(Liveness, AThreadThatHangsDoesNotAnswer) {
  boost::asio::io_context io(2);
  Liveness liveness(2);
  const auto work = boost::asio::make_work_guard(io);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] { run_answering(io, liveness, i, 1); });
  const auto answers = [&] {
    liveness.ask();
    return until([&] { return liveness.all_answered(); });
  };
  EXPECT_TRUE(answers());

  std::latch hangs(1);
  std::latch end(1);
  boost::asio::post(io, [&] {
    hangs.count_down();
    end.wait();
  });
  hangs.wait();
  // The other thread answers this question many times. The thread that hangs never answers it.
  liveness.ask();
  std::latch other(1);
  boost::asio::post(io, [&] { other.count_down(); });
  other.wait();
  EXPECT_FALSE(liveness.all_answered());
  end.count_down();
  EXPECT_TRUE(until([&] { return liveness.all_answered(); }));
  io.stop();
}

}  // namespace
}  // namespace hyperflock::app
