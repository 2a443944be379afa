// Memory of the server's process. Its allocator is jemalloc. The C library's allocator keeps a page
// as long as one small object is left in it, so most of the memory of a flood of connections would
// never be given back.
#pragma once

namespace hyperflock::app {

// Gives memory that has not been used for some seconds back to the system. Call it about once a
// second, because jemalloc has no thread of its own here: by itself it gives memory back only
// during calls that allocate or free. With a sanitizer, which has its own allocator, it does
// nothing.
void give_back_unused_memory();

}  // namespace hyperflock::app
