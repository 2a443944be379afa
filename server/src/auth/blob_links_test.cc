#include "auth/blob_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/testing/scratch_folder.h"

namespace hyperflock::auth {
namespace {

namespace fs = std::filesystem;
using ::testing::MatchesRegex;

constexpr std::int64_t kDayMs = 86'400'000;
const std::string kBlob(64, 'a');

// Returns the parts of /blobs/PROJECT/UNTIL/SIGNATURE/SHA256.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = path.find('/', 1); at != std::string::npos;) {
    const std::size_t next = path.find('/', at + 1);
    parts.push_back(path.substr(at + 1, next == std::string::npos ? next : next - at - 1));
    at = next;
  }
  return parts;
}

bool is_signed(const BlobLinks& links, const std::vector<std::string>& parts) {
  return links.is_signed(parts[0], parts[1], parts[3], parts[2]);
}

TEST(BlobLinks, AreOneAddressForADayAndValidForTheNextDay) {
  const BlobLinks links("a key of the test");
  const auto first = links.sign(7, kBlob, 10 * kDayMs);
  EXPECT_THAT(first.path, MatchesRegex("/blobs/7/1036800/[0-9a-f]{64}/a{64}"));
  EXPECT_EQ(first.until_s, 12 * kDayMs / 1'000);
  EXPECT_EQ(links.sign(7, kBlob, 11 * kDayMs - 1).path, first.path);
  EXPECT_NE(links.sign(7, kBlob, 11 * kDayMs).path, first.path);
}

TEST(BlobLinks, AreSignedInEachPart) {
  const BlobLinks links("a key of the test");
  const auto parts = parts_of(links.sign(7, kBlob, 0).path);
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_TRUE(is_signed(links, parts));
  EXPECT_FALSE(is_signed(BlobLinks("another key"), parts));
  const std::map<std::size_t, std::vector<std::string>> others{
      {0, {"8", "07", "", "77"}},
      {1, {"172801", "1728000", "0172800", ""}},
      {2, {std::string(64, '0'), parts[2].substr(1), parts[2] + "0", ""}},
      {3, {std::string(64, 'b'), std::string(64, 'A')}}};
  for (const auto& [at, texts] : others) {
    for (const std::string& text : texts) {
      auto changed = parts;
      changed[at] = text;
      EXPECT_FALSE(is_signed(links, changed)) << at << ": " << text;
    }
  }
}

// If parts could move from one to the next, a link of project 1 would be one of project 11.
TEST(BlobLinks, TellTheirPartsApart) {
  const BlobLinks links("a key of the test");
  const auto parts = parts_of(links.sign(11, kBlob, 0).path);
  EXPECT_FALSE(links.is_signed("1", "1" + parts[1], kBlob, parts[2]));
  EXPECT_FALSE(links.is_signed("11/172800", "", kBlob, parts[2]));
}

TEST(BlobLinks, HaveAKeyThatIsMadeOnceAndThatOnlyItsOwnerReads) {
  const ScratchFolder folder;
  const auto made = BlobLinks::open(folder.path());
  ASSERT_TRUE(made) << made.error().message;
  const std::string path = made->sign(1, kBlob, 0).path;
  EXPECT_EQ(BlobLinks::open(folder.path())->sign(1, kBlob, 0).path, path);
  struct stat status{};
  ASSERT_EQ(::stat((folder.path() / kLinkKeyFile).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
  fs::remove(folder.path() / kLinkKeyFile);
  EXPECT_NE(BlobLinks::open(folder.path())->sign(1, kBlob, 0).path, path);
}

TEST(BlobLinks, RefuseAKeyThatCannotBeSecret) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / kLinkKeyFile) << "short";
  EXPECT_EQ(BlobLinks::open(folder.path()).error().code, "file_unreadable");
  fs::remove(folder.path() / kLinkKeyFile);
  fs::create_symlink(folder.path() / "nowhere", folder.path() / kLinkKeyFile);
  EXPECT_EQ(BlobLinks::open(folder.path()).error().code, "file_unreadable");
  fs::remove(folder.path() / kLinkKeyFile);
  fs::create_directory(folder.path() / kLinkKeyFile);
  EXPECT_EQ(BlobLinks::open(folder.path()).error().code, "file_unreadable");
  EXPECT_EQ(BlobLinks::open(folder.path() / "missing").error().code, "file_unwritable");
}

}  // namespace
}  // namespace hyperflock::auth
