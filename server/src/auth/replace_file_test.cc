#include "auth/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/testing/scratch_folder.h"

namespace hyperflock::auth {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ReplaceFile, ReplacesTheWholeFileAndItsPermissions) {
  const ScratchFolder folder;
  const std::string path = folder.file("secret");
  std::ofstream(path) << "an old text that is longer";
  std::ofstream(path + ".new") << "what a crash left";
  EXPECT_EQ(replace_file(path, "new", 0600), 0);
  EXPECT_EQ(content_of(path), "new");
  struct stat found{};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

TEST(ReplaceFile, SaysWhyItCannotAndLeavesNothing) {
  const ScratchFolder folder;
  EXPECT_EQ(replace_file(folder.file("missing/secret"), "x", 0600), ENOENT);
  std::filesystem::create_directory(folder.file("folder"));
  EXPECT_EQ(replace_file(folder.file("folder"), "x", 0600), EISDIR);
  EXPECT_FALSE(std::filesystem::exists(folder.file("folder.new")));
}

}  // namespace
}  // namespace hyperflock::auth
