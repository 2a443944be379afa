// Tests the room on the disk: what is admitted, what uploads claim, and the reserve.
#include "blobs/disk_room.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/testing/scratch_folder.h"

namespace hyperflock::blobs {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class DiskRoomTest : public ::testing::Test {
 protected:
  DiskRoom room(std::uint64_t min_free, std::uint64_t reserve) {
    return {folder_.file(""), folder_.file("log"), {min_free, reserve}, [this] { return free_; }};
  }
  std::uint64_t reserved() const {
    std::error_code error;
    const auto size = std::filesystem::file_size(folder_.file("reserve"), error);
    return error ? 0 : size;
  }

  ScratchFolder folder_;
  std::optional<std::uint64_t> free_ = 100 * kMiB;
};

TEST_F(DiskRoomTest, SomeBytesStayFree) {
  const DiskRoom some = room(40 * kMiB, 0);
  EXPECT_EQ(some.left(), 60 * kMiB);
  EXPECT_TRUE(some.admits_rows());
  free_ = 40 * kMiB - 1;
  EXPECT_EQ(some.left(), 0U);
  EXPECT_FALSE(some.admits_rows());
}

TEST_F(DiskRoomTest, UploadsAtOnceDoNotTakeTheSameBytes) {
  DiskRoom some = room(40 * kMiB, 0);
  auto first = some.claim(40 * kMiB);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(some.claim(21 * kMiB), nullptr);
  EXPECT_EQ(some.left(), 20 * kMiB);  // the refused claim is not kept
  EXPECT_NE(some.claim(20 * kMiB), nullptr);
  first.reset();
  EXPECT_NE(some.claim(60 * kMiB), nullptr);
}

TEST_F(DiskRoomTest, RowsMayUseWhatTheDatabaseHasFree) {
  DiskRoom some = room(40 * kMiB, 0);
  free_ = 10 * kMiB;
  EXPECT_FALSE(some.admits_rows());
  some.note_reusable(30 * kMiB);
  EXPECT_TRUE(some.admits_rows());
  EXPECT_EQ(some.claim(1), nullptr);  // a file cannot
}

TEST_F(DiskRoomTest, ADiskThatDoesNotSayHowMuchIsFreeRefusesNothing) {
  DiskRoom some = room(40 * kMiB, 0);
  free_.reset();
  EXPECT_TRUE(some.admits_rows());
  EXPECT_NE(some.claim(kMiB), nullptr);
}

TEST_F(DiskRoomTest, TheReserveIsGivenBackAndMadeAgain) {
  DiskRoom some = room(0, 2 * kMiB);
  EXPECT_TRUE(some.regain());
  EXPECT_EQ(reserved(), 2 * kMiB);
  EXPECT_NE(some.claim(1), nullptr);
  some.release();
  EXPECT_EQ(reserved(), 0U);
  // Guests may not use the bytes of the removed reserve.
  EXPECT_EQ(some.left(), 0U);
  EXPECT_FALSE(some.admits_rows());
  EXPECT_EQ(some.claim(1), nullptr);
  some.release();  // does nothing
  EXPECT_TRUE(some.regain());
  EXPECT_EQ(reserved(), 2 * kMiB);
  EXPECT_TRUE(some.admits_rows());
}

TEST_F(DiskRoomTest, TheLogIsPartOfTheReserve) {
  std::ofstream(folder_.file("log")) << std::string(kMiB, 'x');
  DiskRoom some = room(0, 2 * kMiB);
  EXPECT_TRUE(some.regain());
  EXPECT_EQ(reserved(), kMiB);
}

// While the disk is full, the reserve is not made, because the commits that may use its bytes need
// them.
TEST_F(DiskRoomTest, AReserveThatWouldTakeTheLastBytesIsNotMade) {
  DiskRoom some = room(0, 2 * kMiB);
  for (const std::uint64_t free : {std::uint64_t{0}, 2 * kMiB - 1, 2 * kMiB, 3 * kMiB - 1}) {
    free_ = free;
    EXPECT_FALSE(some.regain()) << free;
    EXPECT_EQ(reserved(), 0U) << free;
  }
  free_ = 3 * kMiB;
  EXPECT_TRUE(some.regain());
  free_ = 0;
  EXPECT_FALSE(some.regain());
}

TEST_F(DiskRoomTest, WhatTheDatabaseHasFreeIsEnoughBesideTheReserve) {
  DiskRoom some = room(0, 2 * kMiB);
  free_ = 2 * kMiB;
  some.note_reusable(8 * kMiB);
  EXPECT_TRUE(some.regain());
  EXPECT_EQ(reserved(), 2 * kMiB);
}

}  // namespace
}  // namespace hyperflock::blobs
