#include "app/machine/memory.h"

#ifdef HYPERFLOCK_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

#ifdef HYPERFLOCK_JEMALLOC
// jemalloc reads its settings from this variable. It keeps freed pages for 5 s, so that later
// allocations can use them.
extern "C" const char* malloc_conf;
const char* malloc_conf = "dirty_decay_ms:5000,muzzy_decay_ms:0";
#endif

namespace hyperflock::app {

void give_back_unused_memory() {
#ifdef HYPERFLOCK_JEMALLOC
  // The number 4096 names all arenas (MALLCTL_ARENAS_ALL).
  static_assert(MALLCTL_ARENAS_ALL == 4096);
  (void)::mallctl("arena.4096.decay", nullptr, nullptr, nullptr, 0);
#endif
}

}  // namespace hyperflock::app
