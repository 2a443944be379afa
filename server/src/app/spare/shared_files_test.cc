#include "app/spare/shared_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/scratch_folder.h"

namespace hyperflock::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SharedFilesTest : public testing::Test {
 protected:
  SharedFilesTest() {
    fs::create_directories(one_);
    fs::create_directories(two_);
  }
  Status take(const fs::path& state, std::int64_t epoch, const std::string& database = "d") {
    return take_shared_files(state, shared_, epoch, database);
  }
  std::string refusal(const Status& status) {
    return status ? std::string("taken") : status.error().code + ' ' + status.error().message;
  }
  static bool write(const fs::path& path) {
    return (std::ofstream(path) << "x" << std::flush).good();
  }

  const ScratchFolder folder_;
  const fs::path one_ = folder_.file("one");
  const fs::path two_ = folder_.file("two");
  const fs::path shared_ = folder_.file("shared");
};

TEST_F(SharedFilesTest, TheNextServerHasTheFilesAndTheOneBeforeHasNot) {
  ASSERT_EQ(refusal(take(one_, 1)), "taken");
  ASSERT_TRUE(write(one_ / "blobs" / "a"));
  const fs::path opened = fs::canonical(one_ / "blobs");
  ASSERT_EQ(refusal(take(two_, 2)), "taken");
  EXPECT_TRUE(fs::exists(two_ / "blobs" / "a"));
  // The server before can neither store nor remove.
  EXPECT_FALSE(write(one_ / "blobs" / "b"));
  EXPECT_FALSE(write(opened / "b"));
  std::error_code error;
  EXPECT_FALSE(fs::remove(one_ / "blobs" / "a", error));
  EXPECT_TRUE(fs::exists(two_ / "blobs" / "a"));
  // It may come back.
  ASSERT_EQ(refusal(take(one_, 3)), "taken");
  EXPECT_TRUE(fs::exists(one_ / "blobs" / "a"));
  ASSERT_EQ(refusal(take(one_, 4)), "taken");
  EXPECT_TRUE(fs::exists(one_ / "blobs" / "a"));
}

TEST_F(SharedFilesTest, AServerThatIsLateTakesNothing) {
  ASSERT_EQ(refusal(take(two_, 7)), "taken");
  ASSERT_TRUE(write(two_ / "blobs" / "a"));
  EXPECT_THAT(refusal(take(one_, 6)), HasSubstr("bad_state"));
  EXPECT_TRUE(fs::exists(two_ / "blobs" / "a"));
}

TEST_F(SharedFilesTest, AnUnusedFolderWithItsKeyOfLinksGivesWay) {
  fs::create_directories(one_ / "blobs" / "uploads");
  ASSERT_TRUE(write(one_ / "blobs" / "link-key"));
  ASSERT_EQ(refusal(take(one_, 1)), "taken");
  EXPECT_FALSE(fs::exists(one_ / "blobs" / "link-key"));
  // From now on the key is in the folder that the servers share.
  ASSERT_TRUE(write(one_ / "blobs" / "link-key"));
  ASSERT_EQ(refusal(take(two_, 2)), "taken");
  EXPECT_TRUE(fs::exists(two_ / "blobs" / "link-key"));
}

TEST_F(SharedFilesTest, FilesOfAnotherDatabaseStay) {
  ASSERT_EQ(refusal(take(one_, 1, "theirs")), "taken");
  EXPECT_THAT(refusal(take(two_, 2, "ours")), HasSubstr("another database"));
  EXPECT_TRUE(fs::exists(shared_ / "held-1" / "blobs"));
}

TEST_F(SharedFilesTest, FilesThatAServerHasAlreadyAreNotHidden) {
  fs::create_directories(one_ / "blobs" / "ab");
  ASSERT_TRUE(write(one_ / "blobs" / "ab" / "c"));
  EXPECT_THAT(refusal(take(one_, 1)), HasSubstr("must be empty"));
  EXPECT_TRUE(fs::exists(one_ / "blobs" / "ab" / "c"));
  // As the message says.
  fs::remove(shared_ / "held-1" / "blobs");
  fs::rename(one_ / "blobs", shared_ / "held-1" / "blobs");
  ASSERT_EQ(refusal(take(one_, 2)), "taken");
  EXPECT_TRUE(fs::exists(one_ / "blobs" / "ab" / "c"));
}

}  // namespace
}  // namespace hyperflock::app
