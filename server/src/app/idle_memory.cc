#include "app/idle_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace hyperflock::app {

void give_back_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace hyperflock::app
