# The researcher's package.
# shellcheck shell=bash

step_python_package() {
  local key
  key=$(fingerprint python/pyproject.toml python/src/hyperflock/_base/version.py python/requirements)
  up_to_date python_package "$key" && [[ -x build/venv/bin/hyperflock ]] && return 0
  build/venv/bin/python -m pip install --no-deps --no-build-isolation -e python
  mark python_package "$key"
}

# The researcher's documentation as a site; a warning is an error.
step_docs() { python3 -m sphinx -q -W --keep-going -d build/docs/.doctrees python/docs build/docs/python; }

# What Optuna's gRPC storage, a peer of bench optuna_vs, needs beside Optuna: nothing else here does.
step_bench_peers() {
  local key
  key=$(fingerprint python/bench/requirements.txt)
  up_to_date bench_peers "$key" && return 0
  rm -rf build/bench-peers
  build/venv/bin/python -m pip install --require-hashes --only-binary=:all: --target build/bench-peers \
    -r python/bench/requirements.txt
  mark bench_peers "$key"
}

PYTHON_TESTS=(-c python/pyproject.toml --rootdir python)

# With --whole also the share of the package's lines that ran: the suite fails below python/pyproject.toml's fail_under.
# To trace the lines costs half as much time again, so a plain run does not.
step_python_test() {
  export HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server"
  if [[ -z ${HYPERFLOCK_WHOLE:-} ]]; then
    run_pytest "${PYTHON_TESTS[@]}" python/tests
    return
  fi
  export COVERAGE_FILE=$ROOT/build/coverage/data
  mkdir -p build/coverage
  check python3 -m coverage run --rcfile=python/pyproject.toml -m pytest -q -p no:cacheprovider \
    --junitxml="$JUNIT/$((++REPORTS)).xml" "${PYTHON_TESTS[@]}" python/tests
  # Below a failure it would hide the failure.
  ((FAILED)) || check python3 -m coverage report --rcfile=python/pyproject.toml
}

# The older Optuna beside the newer one, and what depends on it.
step_python_optuna4() {
  local key
  key=$(fingerprint python/requirements)
  up_to_date python_optuna4 "$key" && [[ -d build/optuna4/site-packages/optuna ]] && return 0
  rm -rf build/optuna4
  build/venv/bin/python -m pip install --no-deps --require-hashes --only-binary=:all: --target build/optuna4/site-packages \
    -r python/requirements/optuna4.txt
  mark python_optuna4 "$key"
}

step_python_optuna4_test() {
  export PYTHONPATH=$ROOT/build/optuna4/site-packages HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server"
  python3 -c 'import optuna; assert optuna.__version__.startswith("4."), optuna.__version__'
  run_pytest "${PYTHON_TESTS[@]}" python/tests/optuna/test_{examples,internals,percentiles,pruning,storage,storage_case}.py
}

# ./run python-versions [VERSION...]: the wheel and the tests on each Python that is here; see python/tests/support/versions.sh.
step_python_wheel() {
  rm -f build/wheel/hyperflock-*
  (cd python && ../build/venv/bin/python -m hatchling build -t wheel -d ../build/wheel)
}
