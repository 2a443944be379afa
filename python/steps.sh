# The researcher's package.
# shellcheck shell=bash

step_python_package() {
  local key
  key=$(fingerprint python/pyproject.toml python/src/hyperflock/_base/version.py python/requirements)
  if ! up_to_date python_package "$key" || [[ ! -x build/venv/bin/hyperflock ]]; then
    build/venv/bin/python -m pip install --no-deps --no-build-isolation -e python
    mark python_package "$key"
  fi
  # Tests start some hundred interpreters, and none of them may write compiled files (PYTHONDONTWRITEBYTECODE). So the
  # files are compiled here. A test may change a file twice in a second, and its time may then stay the same. So an
  # import checks a compiled file by the hash of its source.
  build/venv/bin/python -m compileall -q --invalidation-mode checked-hash "${COMPILED_PACKAGES[@]}"
}
COMPILED_PACKAGES=(python/src/hyperflock array-core/python/arraycore worker-runtime/python/hyperflock_worker)

# Builds the researcher's documentation as a site. A warning is an error.
step_docs() { python3 -m sphinx -q -W --keep-going -d build/docs/.doctrees python/docs build/docs/python; }

# The packages that Optuna's gRPC storage needs in addition to Optuna. bench optuna_vs compares Hyperflock with that
# storage, and nothing else uses these packages.
step_bench_peers() {
  local key
  key=$(fingerprint python/bench/requirements.txt)
  up_to_date bench_peers "$key" && return 0
  rm -rf build/bench-peers
  build/venv/bin/python -m pip install --require-hashes --only-binary=:all: --target build/bench-peers \
    -r python/bench/requirements.txt
  mark bench_peers "$key"
}

# The queues with which bench queues compares the server. River is built by the benchmark, if Go is here.
step_queue_peers() {
  apt_install postgresql
  local key
  key=$(fingerprint server/bench/queues)
  up_to_date queue_peers "$key" && return 0
  rm -rf build/queue-peers
  mkdir -p build/queue-peers
  cp server/bench/queues/*.{json,mjs} build/queue-peers/
  npm ci --prefix build/queue-peers --silent
  mark queue_peers "$key"
}

PYTHON_TESTS=(-c python/pyproject.toml --rootdir python)

# With --whole, also measures the share of the package's lines that the tests run. The suite fails if the share is below
# fail_under of python/pyproject.toml. A plain run does not trace lines, because the tests would take 1.5 times as long.
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
  # If a test failed, the coverage report would hide the failure in the output.
  ((FAILED)) || check python3 -m coverage report --rcfile=python/pyproject.toml
}

# Installs the older Optuna next to the newer one, for the tests that depend on its version.
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
  run_pytest "${PYTHON_TESTS[@]}" python/tests/optuna/test_{examples,internals,percentiles,pruning,rejected,rejections_stored,storage,storage_case}.py
}

# Builds the wheel for ./run python-versions [VERSION...], which tests it on each Python of this machine; see
# python/tests/support/versions.sh.
step_python_wheel() {
  rm -f build/wheel/hyperflock-*
  (cd python && ../build/venv/bin/python -m hatchling build -t wheel -d ../build/wheel)
}
