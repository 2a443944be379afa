# Declares and runs the benchmarks of `./run bench`. Sourced by ./run.
# shellcheck shell=bash

# bench NAME "STEPS": declares a benchmark and the steps that it needs. The function bench_NAME runs it and writes
# build/reports/NAME.json.
declare -A BENCH_NEEDS=()
declare -a BENCHES=()
bench() {
  BENCH_NEEDS[$1]=$2
  BENCHES+=("$1")
}

bench server "server benches tools"
bench_server() { build/release/bin/cycle_bench --server build/release/bin/hyperflock-server --state build/bench-state --out build/reports/server.json "$@"; }

bench flood "server benches tools"
bench_flood() { build/release/bin/flood_bench --server build/release/bin/hyperflock-server --state build/bench-state --out build/reports/flood.json "$@"; }

bench idle "server python_package caddy"
bench_idle() { PYTHONPATH=python/tests/support python3 python/bench/idle_phones.py "$@"; }

bench traffic "server python_package"
bench_traffic() { PYTHONPATH=python/tests/support:tests/hostile_guests python3 python/bench/phone_traffic.py "$@"; }

bench data_cache "server python_package nginx"
bench_data_cache() { PYTHONPATH=python/tests/support:tests/hostile_guests:deploy/tests python3 python/bench/data_cache.py "$@"; }

bench asked "server benches tools"
bench_asked() { build/release/bin/asked_bench --server build/release/bin/hyperflock-server --state build/bench-state --out build/reports/asked.json "$@"; }

bench backup "server benches tools"
bench_backup() { build/release/bin/backup_bench --server build/release/bin/hyperflock-server --state build/bench-state --out build/reports/backup.json "$@"; }

bench listing "server benches tools"
bench_listing() { build/release/bin/listing_bench --server build/release/bin/hyperflock-server --state build/bench-state --out build/reports/listing.json "$@"; }

bench storage "benches tools"
bench_storage() { build/release/bin/storage_cycles --state build/bench-state --out build/reports/storage.json "$@"; }

bench optuna_vs "server python_package bench_peers"
bench_optuna_vs() { python3 python/bench/optuna_vs.py "$@"; }

bench queues "server benches tools python_package queue_peers"
bench_queues() { python3 python/bench/queues.py "$@"; }

bench storage_view "server python_package"
bench_storage_view() { python3 python/bench/storage_view.py --out build/reports/storage_view.json "$@"; }

bench rejection "server python_package"
bench_rejection() { PYTHONPATH=python/tests/support python3 python/bench/rejection.py --out build/reports/rejection.json "$@"; }

bench first_compute "server web runtime browser python_package"
bench_first_compute() { node tests/e2e/first_visits/bench_first_compute.ts --out build/reports/first_compute.json "$@"; }

bench first_sklearn "server web runtime packs browser python_package"
bench_first_sklearn() { node tests/e2e/first_visits/bench_first_sklearn.ts --out build/reports/first_sklearn.json "$@"; }

bench python "python_package"
bench_python() { python3 python/bench/package_bench.py --out build/reports/python.json "$@"; }

bench grid64 "server web runtime browser python_package"
bench_grid64() { node tests/e2e/bench_grid64.ts --out build/reports/grid64.json "$@"; }

bench series_page "server web runtime browser python_package"
bench_series_page() { node tests/e2e/bench_series_page.ts --out build/reports/series_page.json "$@"; }

bench study_page "server web runtime browser python_package"
bench_study_page() { node tests/e2e/pages/bench_study_page.ts --out build/reports/study_page.json "$@"; }

bench array-core "server array_core_native benches array_core_wasm runtime npm test_wheels browser python_package"
bench_array-core() { python3 array-core/bench/collect.py "$@"; }

bench train "server array_core_native array_core_wasm runtime npm browser python_package"
bench_train() { python3 array-core/bench/train/collect_train.py "$@"; }

bench chainer-suite "array_core_wasm array_core_native runtime npm test_wheels python_package"
bench_chainer-suite() { python3 array-core/tests/chainer_suite "$@"; }

# bench_steps NAME: runs the steps that the benchmark needs.
bench_steps() {
  local needs
  read -ra needs <<<"${BENCH_NEEDS[$1]}"
  steps "${needs[@]}"
}

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
  if [[ ${1:-} == --list ]]; then # lists what this benchmark measures
    "bench_${names[0]}" --list
    return
  fi
  local status failed=()
  for name in "${names[@]}"; do
    bench_steps "$name"
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
