# The functions by which CMakeLists.txt declares steps. A step is a CTest test that runs step_NAME of a part's steps.sh:
#   setup(NAME ...)   something that other steps need: packages, a build. It runs if one of those steps runs.
#   suite(NAME ...)   tests that `./run test` runs.
#   extra(NAME ...)   tests that run only by name, because they are long or need more.
# Options of each:
#   ABOUT text        one line for `./run test --list`, without semicolons
#   NEEDS step...     set-up steps that run before it
#   INPUTS path...    the files that it reads, in addition to those of its NEEDS; for `./run test --changed`
#   LOCK name         no two steps with the same lock run at once
#   PROCESSORS n      how many of CTest's parallel places it takes (1)
#   COST n            steps that cost more start earlier (1); after the first run, CTest uses the measured seconds
#   TIMEOUT seconds   after how long CTest ends it (3600): for a step that hangs, not for a busy machine
#   ALONE             no other step runs at the same time

get_filename_component(SUITES_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(SUITES_STEP ${CMAKE_CURRENT_LIST_DIR}/step)
set(SUITES_TABLE ${CMAKE_BINARY_DIR}/steps.tsv)
file(WRITE ${SUITES_TABLE} "")

function(declare_step kind name)
  cmake_parse_arguments(ARG "ALONE" "ABOUT;LOCK;PROCESSORS;COST;TIMEOUT" "NEEDS;INPUTS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${name}: unknown or empty option: ${ARG_UNPARSED_ARGUMENTS}${ARG_KEYWORDS_MISSING_VALUES}")
  endif()
  get_property(setups GLOBAL PROPERTY SUITES_SETUPS)
  foreach(need ${ARG_NEEDS})
    if(NOT need IN_LIST setups)
      message(FATAL_ERROR "${name} needs ${need}, which is no set-up step declared above it")
    endif()
  endforeach()
  foreach(input ${ARG_INPUTS})
    if(NOT EXISTS ${SUITES_ROOT}/${input})
      message(FATAL_ERROR "${name} reads ${input}, which is not there")
    endif()
  endforeach()
  foreach(default PROCESSORS=1 COST=1 TIMEOUT=3600)
    string(REGEX MATCH "^(.*)=(.*)$" matched ${default})
    if(NOT ARG_${CMAKE_MATCH_1})
      set(ARG_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  add_test(NAME ${name} COMMAND ${SUITES_STEP} ${name} WORKING_DIRECTORY ${SUITES_ROOT})
  set_tests_properties(${name} PROPERTIES LABELS ${kind} PROCESSORS ${ARG_PROCESSORS} COST ${ARG_COST}
    TIMEOUT ${ARG_TIMEOUT} FIXTURES_REQUIRED "${ARG_NEEDS}" RESOURCE_LOCK "${ARG_LOCK}" RUN_SERIAL "${ARG_ALONE}")
  if(kind STREQUAL "setup")
    set_property(GLOBAL APPEND PROPERTY SUITES_SETUPS ${name})
    set_tests_properties(${name} PROPERTIES FIXTURES_SETUP ${name})
  endif()
  string(REPLACE ";" " " needs "${ARG_NEEDS}")
  string(REPLACE ";" " " inputs "${ARG_INPUTS}")
  file(APPEND ${SUITES_TABLE} "${kind}\t${name}\t${needs}\t${inputs}\t${ARG_ABOUT}\n")
endfunction()

macro(setup)
  declare_step(setup ${ARGN})
endmacro()
macro(suite)
  declare_step(suite ${ARGN})
endmacro()
macro(extra)
  declare_step(extra ${ARGN})
endmacro()
