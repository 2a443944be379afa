// A database with which a small test begins. In such a test, most of the time would pass with the
// migrations, so they run once per process. VersionsTest and the tests of the back end run them
// themselves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/testing/scratch_folder.h"
#include "storage/sqlite/open.h"

namespace hyperflock::storage {

// Returns the content of a new database after it was closed.
inline std::string new_database() {
  const ScratchFolder folder(ScratchFolder::Where::memory);
  const std::string path = folder.file("db");
  open_sqlite_storage(path, [] { return std::int64_t{1}; }).value();
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Makes the file a database of the newest version without rows, and its folder if necessary. Leaves
// a file that is there as it is.
inline void place_empty_database(const std::string& path) {
  static const std::string content = new_database();
  if (std::filesystem::exists(path)) return;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace hyperflock::storage
