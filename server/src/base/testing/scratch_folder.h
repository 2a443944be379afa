// A folder for a test's files; the destructor removes it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace hyperflock {

class ScratchFolder {
 public:
  // memory: the folder is in a file system in memory, if the machine has one.
  enum class Where { anywhere, memory };
  explicit ScratchFolder(Where where = Where::anywhere) {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = where == Where::memory && std::filesystem::is_directory(memory);
    std::string pattern =
        ((in_memory ? memory : std::filesystem::temp_directory_path()) / "hyperflock-XXXXXX")
            .string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot create " + pattern);
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace hyperflock
