# The researcher's package.

stage python_package "tools"
do_python_package() {
  local key
  key=$(fingerprint python/pyproject.toml python/requirements)
  up_to_date python_package "$key" && [[ -x build/venv/bin/hyperflock ]] && return 0
  build/venv/bin/python -m pip install --no-deps --no-build-isolation -e python
  mark python_package "$key"
}

# What Optuna's gRPC storage, a peer of bench optuna_vs, needs beside Optuna: nothing else here does.
stage bench_peers "tools"
do_bench_peers() {
  local key
  key=$(fingerprint python/bench/requirements.txt)
  up_to_date bench_peers "$key" && return 0
  rm -rf build/bench-peers
  build/venv/bin/python -m pip install --require-hashes --only-binary=:all: --target build/bench-peers \
    -r python/bench/requirements.txt
  mark bench_peers "$key"
}

stage python_test "python_package server runtime web browser npm array_core_wasm"
do_python_test() {
  HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" \
    python3 -m pytest -q -p no:cacheprovider -c python/pyproject.toml --rootdir python python/tests
}
