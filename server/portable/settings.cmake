# Settings of the preset `portable`, which links the server of wheels: one static program, so that every Linux of its
# processor runs it, whichever libraries that system has. CMake reads this file right after project().
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
# Debian has no static libraries of these two. The files in this folder say how to do without.
set(spdlog_DIR ${CMAKE_CURRENT_LIST_DIR})
set(prometheus-cpp_DIR ${CMAKE_CURRENT_LIST_DIR})
# Nobody debugs a wheel's server, and the symbols are a quarter of its size.
set(CMAKE_EXE_LINKER_FLAGS "-static -s")
