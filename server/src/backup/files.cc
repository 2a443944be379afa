// See files.h.
#include "backup/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "base/disk_full.h"
#include "blobs/sha256.h"

namespace hyperflock::backup {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  Descriptor(const fs::path& file, int flags)
      : number_(::open(file.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

bool write_all(int file, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

// Copies what is left of `from`. Lets the system share or copy the bytes itself where it can.
bool copy_bytes(int from, int to) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  for (;;) {
    const ssize_t copied = ::copy_file_range(from, nullptr, to, nullptr, kMost, 0);
    if (copied == 0) return true;
    if (copied > 0) continue;
    if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return false;
    break;
  }
  std::array<char, 65'536> buffer{};
  for (;;) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count == 0) return true;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || !write_all(to, buffer.data(), static_cast<std::size_t>(count))) return false;
  }
}

}  // namespace

Error disk_error(const fs::path& file, int error) {
  if (means_no_room(error)) {
    return Error{"backup_no_room", "The disk of " + file.string() +
                                       " is full: free some room, or name a folder on another "
                                       "disk."};
  }
  return Error{"backup_failed", "Cannot use " + file.string() + " (" + std::strerror(error) +
                                    "): look at the disk and the folder's rights."};
}

Result<std::string> hash_of(const fs::path& file) {
  const Descriptor in(file, O_RDONLY);
  if (in.number() < 0) return disk_error(file, errno);
  blobs::Sha256 hash;
  std::array<std::byte, 65'536> buffer{};
  for (;;) {
    const ssize_t count = ::read(in.number(), buffer.data(), buffer.size());
    if (count == 0) return hash.hex();
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return disk_error(file, errno);
    hash.update(std::span(buffer).first(static_cast<std::size_t>(count)));
  }
}

Status place(const fs::path& source, const fs::path& target, How how) {
  const fs::path part = target.string() + ".part";
  ::unlink(part.c_str());
  const auto named = [&]() -> Status {
    if (::rename(part.c_str(), target.c_str()) != 0) return disk_error(target, errno);
    return {};
  };
  const Descriptor from(source, O_RDONLY);
  if (from.number() < 0) return disk_error(source, errno);
  // A linked file keeps its mode, so only one that nobody else may read is linked.
  struct stat status{};
  const bool is_private = ::fstat(from.number(), &status) == 0 && (status.st_mode & 0077) == 0;
  if (how == How::link && is_private && ::fsync(from.number()) == 0 &&
      ::link(source.c_str(), part.c_str()) == 0)
    return named();
  const Descriptor to(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (to.number() < 0) return disk_error(target, errno);
  if (!copy_bytes(from.number(), to.number()) || ::fsync(to.number()) != 0) {
    const int error = errno;
    ::unlink(part.c_str());
    return disk_error(target, error);
  }
  return named();
}

Status write_file(const fs::path& target, const std::string& text) {
  const fs::path part = target.string() + ".part";
  ::unlink(part.c_str());
  const Descriptor to(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (to.number() < 0) return disk_error(target, errno);
  if (!write_all(to.number(), text.data(), text.size()) || ::fsync(to.number()) != 0 ||
      ::rename(part.c_str(), target.c_str()) != 0) {
    const int error = errno;
    ::unlink(part.c_str());
    return disk_error(target, error);
  }
  return {};
}

Result<std::string> read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) return disk_error(file, errno == 0 ? EIO : errno);
  return text;
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return {};
  if (!folder.parent_path().empty()) TRY(make_folder(folder.parent_path()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return disk_error(folder, errno);
  return {};
}

bool is_free_for(const fs::path& folder, const std::string& marker, const std::string& beginning) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path name = entry.path().filename();
    std::error_code none;
    const bool begun = name == marker + ".part" || (!beginning.empty() && name == beginning &&
                                                    fs::is_empty(entry.path(), none));
    if (!begun && name != "lost+found") return false;
  }
  return !error;
}

Status sync_folder(const fs::path& folder) {
  const Descriptor opened(folder, O_RDONLY | O_DIRECTORY);
  if (opened.number() < 0 || ::fsync(opened.number()) != 0) return disk_error(folder, errno);
  return {};
}

}  // namespace hyperflock::backup
