// See log_pages.h. The format of the log is documented at https://www.sqlite.org/fileformat2.html
// (section 4, "The Write-Ahead Log").
#include "storage/sqlite/standby/log_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

namespace hyperflock::storage::sqlite {
namespace {

constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::size_t kSaltAt = 16;  // in the header of the log
constexpr std::size_t kFrameSaltAt = 8;

std::uint32_t big_endian(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::uint64_t salt_at(const char* bytes) {
  return std::uint64_t{big_endian(bytes)} << 32 | big_endian(bytes + 4);
}

}  // namespace

LogPages::~LogPages() {
  if (file_ >= 0) ::close(file_);
}

bool LogPages::open() {
  if (file_ < 0) file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  return file_ >= 0;
}

bool LogPages::read(void* target, std::size_t bytes, std::int64_t at) const {
  auto* to = static_cast<char*>(target);
  while (bytes > 0) {
    const ssize_t count = ::pread(file_, to, bytes, at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to += count;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

void LogPages::skip_to(std::int64_t frames) {
  frames_ = frames;
  salt_ = 0;
  std::array<char, kHeaderBytes> header{};
  if (frames > 0 && open() && read(header.data(), header.size(), 0))
    salt_ = salt_at(header.data() + kSaltAt);
}

bool LogPages::read_to(std::int64_t frames, ChangedPages& changed) {
  std::array<char, kHeaderBytes> header{};
  if (!open() || !read(header.data(), header.size(), 0)) return false;
  const std::uint64_t salt = salt_at(header.data() + kSaltAt);
  if (salt != salt_) {
    salt_ = salt;
    frames_ = 0;
  }
  if (frames < frames_) return false;
  const std::size_t page_bytes = big_endian(header.data() + 8);
  std::array<char, kFrameHeaderBytes> about{};
  std::uint32_t size = 0;
  for (; frames_ < frames; ++frames_) {
    const auto at = static_cast<std::int64_t>(kHeaderBytes) +
                    frames_ * static_cast<std::int64_t>(kFrameHeaderBytes + page_bytes);
    if (!read(about.data(), about.size(), at) || salt_at(about.data() + kFrameSaltAt) != salt)
      return false;
    std::string& page = changed.pages[big_endian(about.data())];
    if (page.empty()) changed.bytes += page_bytes;
    page.resize(page_bytes);
    if (!read(page.data(), page_bytes, at + static_cast<std::int64_t>(kFrameHeaderBytes)))
      return false;
    size = big_endian(about.data() + 4);  // 0: the transaction has more frames
  }
  if (size != 0) changed.database_pages = size;
  return changed.database_pages != 0 || changed.pages.empty();
}

}  // namespace hyperflock::storage::sqlite
