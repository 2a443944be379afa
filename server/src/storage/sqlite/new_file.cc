// See new_file.h.
#include "storage/sqlite/new_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace hyperflock::storage::sqlite {

NewFile::~NewFile() {
  if (number_ < 0) return;  // what is there is somebody else's
  ::close(number_);
  if (!kept_) ::unlink(path_.c_str());
}

bool NewFile::create() {
  number_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  return number_ >= 0;
}

bool NewFile::sync() const { return ::fsync(number_) == 0; }

}  // namespace hyperflock::storage::sqlite
