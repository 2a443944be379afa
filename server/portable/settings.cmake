# Settings of the preset `portable`, which links the server in the wheels. It is one static program, so it runs on
# every Linux system with the same kind of processor, whatever libraries are installed there. CMake reads this
# file right after project().
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
# Debian has no static libraries of spdlog and prometheus-cpp. The files in this folder replace them.
set(spdlog_DIR ${CMAKE_CURRENT_LIST_DIR})
set(prometheus-cpp_DIR ${CMAKE_CURRENT_LIST_DIR})
# Debian has no libpq that can be linked into a static program.
set(HYPERFLOCK_POSTGRES OFF)
# Removes the symbols, which are a quarter of the program's size. Nobody debugs the server of a wheel.
set(CMAKE_EXE_LINKER_FLAGS "-static -s")
# Only the program itself is told that it is static. All libraries are compiled as for the preset `release`, so ccache has
# them already when this preset is built after that one.
set(HYPERFLOCK_STATIC ON)
