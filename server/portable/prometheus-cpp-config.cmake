# Compiles the core of prometheus-cpp from Debian's sources of the installed version (prometheus_sources in
# server/steps.sh).
set(prometheus ${CMAKE_SOURCE_DIR}/build/cache/prometheus-cpp)
file(GLOB_RECURSE prometheus_sources ${prometheus}/core/src/*.cc)
if(NOT prometheus_sources)
  message(FATAL_ERROR "the sources of prometheus-cpp are not in ${prometheus}; './run wheels' fetches them")
endif()
if(NOT TARGET prometheus_core)
  add_library(prometheus_core STATIC ${prometheus_sources})
  target_include_directories(prometheus_core PRIVATE ${prometheus}/core/src)
  target_compile_definitions(prometheus_core PUBLIC PROMETHEUS_CPP_CORE_STATIC_DEFINE)
  add_library(prometheus-cpp::core ALIAS prometheus_core)
endif()
