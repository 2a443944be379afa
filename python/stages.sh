# The researcher's package.

stage python_package "tools"
do_python_package() {
  local key
  key=$(fingerprint python/pyproject.toml python/requirements)
  up_to_date python_package "$key" && [[ -x build/venv/bin/hyperflock ]] && return 0
  build/venv/bin/python -m pip install --no-deps --no-build-isolation -e python
  mark python_package "$key"
}

stage python_test "python_package server runtime web browser npm array_core_wasm"
do_python_test() {
  HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" \
    python3 -m pytest -q -p no:cacheprovider -c python/pyproject.toml --rootdir python python/tests
}
