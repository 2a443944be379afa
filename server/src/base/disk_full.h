// What a system call's error says about the disk. Pure; any thread.
#pragma once

#include <cerrno>

namespace hyperflock {

// Returns whether there was no room: the disk is full, a quota is used up, or the file would become
// larger than it may.
constexpr bool means_no_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

}  // namespace hyperflock
