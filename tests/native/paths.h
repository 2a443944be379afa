// Where the C++ tests find files. Linked, not compiled in as macros: objects are then the same in
// every checkout, and a compiler cache serves them all.
#pragma once

namespace hyperflock {

extern const char* const kSourceDirectory;  ///< The root of the checkout that was built.
extern const char* const kServerProgram;    ///< `hyperflock-server` of the same build.

}  // namespace hyperflock
