// Lets a thread for work without haste yield to all others.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hyperflock::app {

// The calling thread gets processors and disks that no other thread wants now. If the system does
// not allow it, the work is only less polite.
inline void yield_to_all_others() {
#ifdef __linux__
  constexpr int kNiceness = 19;
  constexpr int kOfThread = 1;         // IOPRIO_WHO_PROCESS
  constexpr int kIdleClass = 3 << 13;  // IOPRIO_CLASS_IDLE
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
  (void)::syscall(SYS_ioprio_set, kOfThread, 0, kIdleClass);
#endif
}

}  // namespace hyperflock::app
