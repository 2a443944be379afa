// Tests that printed lines can be read by cursor and stay within the limits.
#include "hub/output_book.h"

#include <gtest/gtest.h>

namespace hyperflock::hub {
namespace {

TrialKey key(std::int64_t number) { return {StudyId{1}, TrialNumber{number}}; }

std::vector<std::string> texts(const protocol::TrialLog& log) {
  std::vector<std::string> out;
  for (const protocol::LogLine& line : log.lines) out.push_back(line.text);
  return out;
}
using Texts = std::vector<std::string>;

TEST(OutputBook, LinesAreReadAfterACursor) {
  OutputBook book;
  book.add(key(0), AttemptId{7}, "phone", {"a", "b"}, 0);
  book.add(key(0), AttemptId{8}, "phone", {"c"}, 0);
  const auto first = book.read(key(0), 0, 2);
  EXPECT_EQ(texts(first), (Texts{"a", "b"}));
  EXPECT_EQ(first.cursor, 2);
  const auto second = book.read(key(0), first.cursor, 2);
  EXPECT_EQ(texts(second), Texts{"c"});
  EXPECT_EQ(second.lines[0].attempt, AttemptId{8});
  EXPECT_EQ(texts(book.read(key(0), second.cursor, 2)), Texts{});
  EXPECT_EQ(texts(book.read(key(1), 0, 2)), Texts{});
}

TEST(OutputBook, ACursorFromBeforeARestartBeginsAnew) {
  OutputBook book;
  book.add(key(0), AttemptId{7}, "phone", {"a"}, 0);
  EXPECT_EQ(texts(book.read(key(0), 90, 10)), Texts{"a"});
}

TEST(OutputBook, WhatWasLeftOutIsSaid) {
  OutputBook book;
  book.add(key(0), AttemptId{7}, "phone", {"a"}, 3);
  EXPECT_EQ(texts(book.read(key(0), 0, 10)), (Texts{"[3 lines left out]", "a"}));
}

TEST(OutputBook, ATrialKeepsItsNewestLines) {
  OutputBook book;
  for (std::size_t i = 0; i < OutputBook::kLinesPerTrial + 5; ++i)
    book.add(key(0), AttemptId{7}, "phone", {std::to_string(i)}, 0);
  const auto log = book.read(key(0), 0, 5'000);
  EXPECT_EQ(log.lines.size(), OutputBook::kLinesPerTrial);
  EXPECT_EQ(log.lines.front().text, "5");
  EXPECT_EQ(log.lines.front().line, 6);

  const std::string long_line(2'000, 'x');
  for (int i = 0; i < 1'000; ++i) book.add(key(1), AttemptId{7}, "phone", {long_line}, 0);
  EXPECT_LE(book.read(key(1), 0, 5'000).lines.size() * long_line.size(),
            OutputBook::kBytesPerTrial);
}

TEST(OutputBook, AllTrialsTogetherAreBoundedTheQuietestGoFirst) {
  OutputBook book;
  const std::vector<std::string> lines(60, std::string(2'000, 'x'));
  const auto trials = static_cast<std::int64_t>(2 * OutputBook::kBytes / (60 * 2'000));
  for (std::int64_t i = 0; i < trials; ++i) {
    book.add(key(i), AttemptId{7}, "phone", lines, 0);
    book.add(key(0), AttemptId{7}, "phone", {"still here"}, 0);
  }
  EXPECT_FALSE(book.read(key(0), 0, 1).lines.empty());
  EXPECT_TRUE(book.read(key(1), 0, 1).lines.empty());
  std::size_t kept = 0;
  for (std::int64_t i = 0; i < trials; ++i) kept += book.read(key(i), 0, 1'000).lines.size();
  EXPECT_LE(kept * 2'000, OutputBook::kBytes + OutputBook::kLinesPerTrial * 2'000);
}

TEST(OutputBook, ADeviceThatPrintsMuchPushesOutItsOwnLinesOnly) {
  OutputBook book;
  book.add(key(0), AttemptId{1}, "quiet", {"first", "second"}, 0);
  const std::vector<std::string> lines(60, std::string(2'000, 'x'));
  for (std::int64_t i = 1; i < 1'000; ++i) book.add(key(i), AttemptId{7}, "loud", lines, 0);
  EXPECT_EQ(texts(book.read(key(0), 0, 10)), (Texts{"first", "second"}));
  EXPECT_FALSE(book.read(key(999), 0, 1).lines.empty());
  EXPECT_TRUE(book.read(key(1), 0, 1).lines.empty());
}

TEST(OutputBook, ManyDevicesShareTheRoom) {
  OutputBook book;
  const std::vector<std::string> lines(60, std::string(2'000, 'x'));
  for (std::int64_t i = 0; i < 1'000; ++i)
    book.add(key(i), AttemptId{7}, "phone " + std::to_string(i), lines, 0);
  std::size_t least = 1'000;
  std::size_t kept = 0;
  for (std::int64_t i = 0; i < 1'000; ++i) {
    const std::size_t own = book.read(key(i), 0, 1'000).lines.size();
    least = std::min(least, own);
    kept += own;
  }
  EXPECT_GE(least, 5U);  // each keeps its newest lines
  EXPECT_LE(kept * 2'000, OutputBook::kBytes);
}

TEST(OutputBook, ADeletedStudysTrialsAreForgottenAndLeaveRoom) {
  OutputBook book;
  const std::vector<std::string> lines(60, std::string(2'000, 'x'));
  const auto trials = static_cast<std::int64_t>(OutputBook::kBytes / (60 * 2'100));
  const TrialKey other{StudyId{2}, TrialNumber{0}};
  book.add(other, AttemptId{1}, "phone", {"stays"}, 0);
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t i = 0; i < trials; ++i) book.add(key(i), AttemptId{7}, "phone", lines, 0);
    book.forget(key(0).study);
    for (std::int64_t i = 0; i < trials; ++i) EXPECT_TRUE(book.read(key(i), 0, 1).lines.empty());
  }
  EXPECT_EQ(book.read(other, 0, 1).lines.size(), 1U);
}

}  // namespace
}  // namespace hyperflock::hub
