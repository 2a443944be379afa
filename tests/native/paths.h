// Where the C++ tests find files. The paths are linked, not compiled in as macros, so that objects
// are the same in every checkout and a compiler cache can serve them all.
#pragma once

namespace hyperflock {

extern const char* const kSourceDirectory;  ///< The root of the checkout that was built.
extern const char* const kServerProgram;    ///< `hyperflock-server` of the same build.

}  // namespace hyperflock
