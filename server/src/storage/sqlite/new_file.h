// A file that is made next to others, and is removed unless it becomes whole. One thread.
#pragma once

#include <string>

namespace hyperflock::storage::sqlite {

class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {}
  // Removes the file unless keep() was called.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Creates the file, empty and of mode 0600. SQLite writes to an empty file that exists, so nobody
  // else can read it meanwhile. Returns false, with errno, if that fails, also if there is a file.
  bool create();
  // Waits until the file is on the disk. Returns false, with errno, if that fails.
  bool sync() const;
  void keep() { kept_ = true; }

  // Returns the descriptor; negative before create().
  int number() const { return number_; }

 private:
  const std::string path_;
  int number_ = -1;
  bool kept_ = false;
};

}  // namespace hyperflock::storage::sqlite
