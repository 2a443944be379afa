// The paths where C++ tests find files. They are linked and not compiled in as macros, so that
// objects are the same in every checkout and can be shared by a compiler cache.
#pragma once

namespace hyperflock {

extern const char* const kSourceDirectory;  ///< The root of the checkout that was built.
extern const char* const kServerProgram;    ///< `hyperflock-server` of the same build.

}  // namespace hyperflock
