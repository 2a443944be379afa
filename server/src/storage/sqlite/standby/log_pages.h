// Reads from the write-ahead log which pages the commits of one connection have changed. Writer
// thread only; the log is not changed by anybody else.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hyperflock::storage::sqlite {

// Pages with their newest content, and how many pages the database has.
struct ChangedPages {
  std::map<std::uint32_t, std::string> pages;
  std::uint32_t database_pages = 0;
  std::size_t bytes = 0;
};

class LogPages {
 public:
  // `database` is the path of the database, next to which the log is.
  explicit LogPages(const std::string& database) : path_(database + "-wal") {}
  ~LogPages();
  LogPages(const LogPages&) = delete;
  LogPages& operator=(const LogPages&) = delete;

  // Continues behind the first `frames` frames of the log.
  void skip_to(std::int64_t frames);
  // Adds the pages of the frames that came since, up to `frames`. Returns false if the log is not
  // what it must be.
  bool read_to(std::int64_t frames, ChangedPages& changed);

 private:
  bool open();
  bool read(void* target, std::size_t bytes, std::int64_t at) const;

  const std::string path_;
  int file_ = -1;
  std::uint64_t salt_ = 0;  // changes when the log starts again from its beginning
  std::int64_t frames_ = 0;
};

}  // namespace hyperflock::storage::sqlite
