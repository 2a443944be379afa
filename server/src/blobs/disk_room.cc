// See disk_room.h.
#include "blobs/disk_room.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace hyperflock::blobs {
namespace {

namespace fs = std::filesystem;

// The reserve is made only if at least this many other bytes stay free. With fewer, the next
// commits would find the disk full again.
constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

}  // namespace

DiskRoom::DiskRoom(const fs::path& folder, fs::path log, Limits limits, FreeBytes free_bytes)
    : file_(folder / "reserve"),
      log_(std::move(log)),
      limits_(limits),
      free_bytes_(free_bytes ? std::move(free_bytes) : [folder]() -> std::optional<std::uint64_t> {
        std::error_code error;
        const fs::space_info space = fs::space(folder, error);
        if (error) return std::nullopt;
        return space.available;
      }) {}

// If the system does not say how much of the disk is free, nothing is refused.
std::uint64_t DiskRoom::free_now() const {
  return free_bytes_().value_or(std::numeric_limits<std::int64_t>::max());
}

std::uint64_t DiskRoom::left() const {
  const std::uint64_t taken = limits_.min_free_bytes + claimed_;
  const std::uint64_t free = free_now();
  return free > taken && !released_ ? free - taken : 0;
}

bool DiskRoom::admits_rows() const {
  return !released_ && free_now() + reusable_ >= limits_.min_free_bytes;
}

std::unique_ptr<DiskRoom::Claim> DiskRoom::claim(std::uint64_t bytes) {
  claimed_ += bytes;
  std::unique_ptr<Claim> made(new Claim(*this, bytes));
  if (released_ || free_now() < limits_.min_free_bytes + claimed_) made.reset();
  return made;
}

void DiskRoom::release() {
  const std::lock_guard lock(mutex_);
  released_ = true;
  std::error_code error;
  fs::remove(file_, error);
}

bool DiskRoom::regain() {
  const std::lock_guard lock(mutex_);
  const std::uint64_t in_log = size_of(log_);
  const std::uint64_t wanted = limits_.reserve_bytes - std::min(limits_.reserve_bytes, in_log);
  const std::uint64_t has = size_of(file_);
  const std::uint64_t missing = wanted - std::min(wanted, has);
  const std::uint64_t free = free_now();
  // If the reserve took the last free bytes, no commit could be written.
  if (free < missing || free - missing + reusable_ < kLeastBytes) return false;
  if (missing > 0 && !allocate(wanted, has)) return false;
  released_ = false;
  return true;
}

bool DiskRoom::allocate(std::uint64_t wanted, std::uint64_t has) const {
  const int file = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool made = ::posix_fallocate(file, 0, static_cast<off_t>(wanted)) == 0;
  // An incomplete reserve is cut back to its former size. If that fails, release() removes it
  // later.
  if (!made && ::ftruncate(file, static_cast<off_t>(has)) != 0) errno = 0;
  ::close(file);
  return made;
}

}  // namespace hyperflock::blobs
