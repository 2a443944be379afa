# The native builds, one per CMake preset, and the tests and tools that run on them.
# shellcheck shell=bash

build_preset() { # build_preset PRESET [TARGET...]
  local key fresh=()
  key=$(fingerprint CMakePresets.json)
  # If a preset's compiler has changed, CMake silently drops its other variables, even the sanitizers.
  up_to_date "configure-$1" "$key" || fresh=(--fresh)
  cmake --preset "$1" "${fresh[@]}" >build/logs/configure-"$1".log || { cat build/logs/configure-"$1".log; return 1; }
  mark "configure-$1" "$key"
  cmake --build --preset "$1" -j "$JOBS" ${2:+--target "${@:2}"}
}

# run_ctest PRESET: runs every test binary of that build, two at a time, and prints one line for all test cases. ASan keeps
# the callers of each allocation and each release; to keep 10 of them instead of 30 takes 5 to 10 % less time.
run_ctest() {
  ASAN_OPTIONS=malloc_context_size=10 GTEST_OUTPUT="xml:$JUNIT/" check ctest --preset "$1" -j 2 --output-junit "${JUNIT%/}-ctest.xml"
  check python3 tests/count_cases.py "C++ ($1)" "$JUNIT"
}

# Fetches SQLite's sources, which are compiled into the server.
step_sqlite() { python3 server/sqlite/fetch.py --cache build/cache; }

# Builds the server, and asked_load, the load emulator that python/bench/optuna_vs.py and the test of it start.
step_server() { build_preset release hyperflock-server asked_load; }

# Fetches the sources of the installed prometheus-cpp into the cache, because Debian has no static library of it. apt
# verifies the sources with the keys of the repository from which the library came.
prometheus_sources() {
  local place=$ROOT/build/cache/prometheus-cpp version apt
  version=$(dpkg-query -W -f '${source:Version}' prometheus-cpp-dev)
  up_to_date prometheus_sources "$version" && [[ -d $place ]] && return 0
  rm -rf "$place" "$place".apt
  mkdir -p "$place".apt/lists/partial "$place".apt/cache/archives/partial
  # shellcheck disable=SC2016
  apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sort -u >"$place".apt/sources.list
  apt=(-o "Dir::Etc::SourceList=$place.apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$place.apt/lists" -o "Dir::Cache=$place.apt/cache" -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" -o Acquire::Retries=3 update
  (cd "$place".apt && apt-get "${apt[@]}" -o Acquire::Retries=3 source --only-source "prometheus-cpp=$version")
  mv "$place".apt/prometheus-cpp-*/ "$place"
  rm -rf "$place".apt
  mark prometheus_sources "$version"
}

# Builds the server for the wheels: a static program that needs no library of the system.
step_server_portable() {
  prometheus_sources
  build_preset portable hyperflock-server
}

step_benches() { build_preset release; }

# Installs Clang, which compiles the tests. GCC compiles the release, so both compilers check every
# line. Its linker takes a quarter of the CPU time of GNU's.
step_clang() { apt_install clang-19 libclang-rt-19-dev lld-19 llvm-19; }

step_server_debug() { build_preset debug; }

step_server_tsan() { build_preset tsan; }

step_server_test() { run_ctest debug; }

step_server_race_test() { run_ctest tsan; }

# Builds fuzzers: those that FUZZERS names, or all if it is empty.
step_fuzzers() {
  # shellcheck disable=SC2086
  build_preset fuzz ${FUZZERS:+$FUZZERS fuzz_corpus}
}

# check_fuzzers NAME_fuzz...: ends the script if a fuzzer does not exist, before anything is built.
check_fuzzers() {
  local wanted names
  names=$(basename -s .cc -a ./*/fuzz/*_fuzz.cc)
  for wanted in "$@"; do
    [[ $'\n'$names$'\n' == *$'\n'"$wanted"$'\n'* ]] || die "there is no fuzzer '$wanted' among ${names//$'\n'/ }"
  done
}

# fuzz_command [NAME_fuzz...]: runs these fuzzers, or all. Each begins with the seeds in the tree
# (PART/fuzz/corpus/NAME_fuzz) and with those that its build wrote (build/fuzz/corpus/NAME). New inputs that it finds
# are kept in build/corpus.
fuzz_command() {
  local binary name seeds found=0
  for binary in build/fuzz/bin/*_fuzz; do
    name=${binary##*/}
    [[ $# -eq 0 || " $* " == *" $name "* ]] || continue
    say "-- $name"
    mkdir -p "build/corpus/$name"
    seeds=("build/corpus/$name")
    for folder in */fuzz/corpus/"$name" build/fuzz/corpus/"${name%_fuzz}"; do
      [[ -d $folder ]] && seeds+=("$folder")
    done
    "$binary" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=5 -rss_limit_mb=2048 -print_final_stats=1 "${seeds[@]}" 2>&1 |
      tail -n 8
    [[ ${PIPESTATUS[0]} == 0 ]] || die "$name found something; see above"
    found=$((found + 1))
  done
  say "$found fuzzers, ${FUZZ_SECONDS:-60} s each: nothing found"
}

# clang-tidy skips the source files that include Beast, because each of them takes a minute. A file
# is checked again only if its content has changed. Tests are checked only by the compiler's
# warnings.
TIDY_FILES() { grep -rLE 'boost/(asio|beast)' server/src --include='*.cc' --exclude='*_test.cc' | sort; }
step_tidy() {
  local headers
  cmake --preset tidy >build/logs/configure-tidy.log || { cat build/logs/configure-tidy.log; return 1; }
  headers=$(find .clang-tidy server/src -name '*.h' -o -name .clang-tidy | sort | xargs sha256sum | sha256sum)
  mkdir -p build/stamps/tidy
  export headers
  # shellcheck disable=SC2016
  TIDY_FILES | xargs -P "$JOBS" -I{} bash -c '
    stamp=build/stamps/tidy/$(printf "%s" "{}" | tr / _)
    key=$headers-$(sha256sum <"{}")
    [[ -f $stamp && $(<"$stamp") == "$key" ]] && exit 0
    clang-tidy -p build/tidy --quiet "{}" && printf "%s" "$key" >"$stamp"'
  printf '%s checks of files by clang-tidy\n' "$(TIDY_FILES | wc -l)"
}
