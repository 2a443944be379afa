# Tests that cross parts, the linters, and the benchmarks.

TEST_STAGES=(lint server_test server_race_test array_core_test array_core_wgsl_test array_core_python_test array_core_device_test chainer_suite_test runtime_test worker_test web_test python_test python_optuna4_test docs python_command_test deploy_test array_core_host_test hostile_test array_core_faults_test e2e)

# Real browsers, real server, real training: alone, because two volunteers fill two cores.
stage e2e "server web runtime browser python_package" alone
do_e2e() { npx vitest run --root tests/e2e; }

# The short versions of what follows. Not alone: an attempt must fail, and a trial count once, on a busy machine too.
stage hostile_test "server web runtime browser python_package"
do_hostile_test() {
  HOSTILE=short npx vitest run --root tests/hostile
  CHAOS=1 npx vitest run --root tests/chaos chaos.test.ts
}

# ./run chaos [SEEDS]: exactly once under seeded schedules of everything that goes wrong.
stage chaos "server web runtime browser python_package" alone
do_chaos() { npx vitest run --root tests/chaos chaos.test.ts; }

# ./run chaos --optuna [SEED]: 50 notebooks killed for each kind of storage, 50 phones' processes and 50 tabs.
stage chaos_optuna "server web runtime browser python_package" alone
do_chaos_optuna() {
  export KILLS="${KILLS:-50}" SEED="${SEED:-1}"
  HYPERFLOCK_TEST_KILLS=$KILLS HYPERFLOCK_TEST_SEED=$SEED \
    HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" \
    python3 -m pytest -q -rP -p no:cacheprovider -c python/pyproject.toml --rootdir python \
    python/tests/optuna/test_kills.py
  npx vitest run --root tests/chaos optuna_tabs.test.ts
}

# ./run hostile [NAME]: what a trial's code may try against a volunteer; all of it, or the attempts whose name has NAME in it.
stage hostile "server web runtime browser python_package" alone
do_hostile() { npx vitest run --root tests/hostile; }

# ./run engines: the join page, one trial and the self-test in Firefox and WebKitGTK.
stage engines "server web runtime engine_packages python_package" alone
do_engines() { npx vitest run --root tests/engines; }

CPP_FILES() { find server array-core -name '*.h' -o -name '*.cc'; }
PYTHON_FOLDERS=(python worker-runtime array-core tests deploy)

stage lint "npm python_package"
do_lint() {
  CPP_FILES | xargs clang-format --dry-run --Werror
  npx biome ci --error-on-warnings .
  npx tsc --noEmit -p worker-runtime
  npx tsc --noEmit -p worker-runtime/tsconfig.page.json
  npx tsc --noEmit -p web-client
  npx tsc --noEmit -p tests/e2e
  npx tsc --noEmit -p tests/hostile
  npx tsc --noEmit -p tests/engines
  npx tsc --noEmit -p tests/chaos
  ruff check "${PYTHON_FOLDERS[@]}"
  ruff format --check "${PYTHON_FOLDERS[@]}"
  (cd python && mypy)
  (cd array-core/python && mypy --strict arraycore)
  python3 tests/house_rules.py
  python3 tests/folder_arrows.py
  python3 -m pytest -q -p no:cacheprovider tests/test_wait_rule.py tests/test_folder_arrows.py
}

format_command() {
  CPP_FILES | xargs clang-format -i
  npx biome check --write .
  ruff check --fix "${PYTHON_FOLDERS[@]}"
  ruff format "${PYTHON_FOLDERS[@]}"
}

# bench NAME "STAGES": declares bench_NAME, which writes build/reports/NAME.json.
declare -A BENCH_NEEDS=()
declare -a BENCHES=()
bench() {
  BENCH_NEEDS[$1]=$2
  BENCHES+=("$1")
}

bench server "server tools"
bench_server() { build/release/bin/cycle_bench --server build/release/bin/hyperflock-server --state build/bench-state --out build/reports/server.json "$@"; }

bench flood "server tools"
bench_flood() { build/release/bin/flood_bench --server build/release/bin/hyperflock-server --state build/bench-state --out build/reports/flood.json "$@"; }

bench asked "server tools"
bench_asked() { build/release/bin/asked_bench --server build/release/bin/hyperflock-server --state build/bench-state --out build/reports/asked.json "$@"; }

bench optuna_vs "server python_package bench_peers"
bench_optuna_vs() { python3 python/bench/optuna_vs.py "$@"; }

bench storage_view "server python_package"
bench_storage_view() { python3 python/bench/storage_view.py --out build/reports/storage_view.json "$@"; }

bench first_compute "server web runtime browser python_package"
bench_first_compute() { node tests/e2e/bench_first_compute.ts --out build/reports/first_compute.json "$@"; }

bench python "python_package"
bench_python() { python3 python/bench/package_bench.py --out build/reports/python.json "$@"; }

bench grid64 "server web runtime browser python_package"
bench_grid64() { node tests/e2e/bench_grid64.ts --out build/reports/grid64.json "$@"; }

bench array-core "server array_core_wasm runtime npm test_wheels browser python_package"
bench_array-core() { python3 array-core/bench/collect.py "$@"; }

bench train "server array_core_wasm runtime npm browser python_package"
bench_train() { python3 array-core/bench/train/collect_train.py "$@"; }

bench chainer-suite "array_core_wasm server runtime npm test_wheels python_package"
bench_chainer-suite() { python3 array-core/tests/chainer_suite "$@"; }

bench_command() {
  local name names=("${BENCHES[@]}")
  if [[ ${1:-} == --list ]]; then
    printf '%s\n' "${BENCHES[@]}"
    return
  fi
  if [[ $# -gt 0 && $1 != --* ]]; then
    names=("$1")
    shift
    [[ -n ${BENCH_NEEDS[${names[0]}]+x} ]] || die "there is no benchmark '${names[0]}'; ./run bench --list"
  fi
  mkdir -p build/reports
  if [[ ${1:-} == --list ]]; then # what one of them measures
    "bench_${names[0]}" --list
    return
  fi
  local status failed=()
  for name in "${names[@]}"; do
    # shellcheck disable=SC2086
    run_or_explain ${BENCH_NEEDS[$name]}
    say "-- bench $name"
    "bench_$name" "$@"
    status=$?
    ((status == 130)) && exit 130
    ((status)) && failed+=("$name")
  done
  python3 tests/report.py build/reports
  status=$?
  ((${#failed[@]})) && die "benchmark ${failed[*]} failed, or missed a goal"
  return "$status"
}
