// See replace_file.h.
#include "auth/replace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace hyperflock::auth {

int replace_file(const std::string& path, std::string_view text, mode_t mode) {
  const std::string temporary = path + ".new";
  ::unlink(temporary.c_str());
  const int file =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (file < 0) return errno;
  int failed = 0;
  // A write that stops early sets no errno. The usual reason is a full disk.
  errno = ENOSPC;
  if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(file) != 0)
    failed = errno;
  ::close(file);
  if (failed == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) ::unlink(temporary.c_str());
  return failed;
}

}  // namespace hyperflock::auth
