# Runs the tests that involve several parts, and the linters.
# shellcheck shell=bash

# Runs tests with real browsers, a real server and real training.
step_e2e() { run_vitest tests/e2e; }

# Short versions of the steps below. Even on a busy machine, every attack must fail, and every trial must count once.
step_hostile_test() {
  HOSTILE=short run_vitest tests/hostile
  HOSTILE_GUESTS=short step_hostile_guests
  CHAOS=1 run_vitest tests/chaos chaos.test.ts
  HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" run_pytest "${PYTHON_TESTS[@]}" \
    -o "pythonpath=tests/support bench ../tests/drill" tests/drill
  HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" run_pytest "${PYTHON_TESTS[@]}" \
    -o "pythonpath=tests/support ../tests/drill ../tests/sabotage" tests/sabotage
}

# Installs the wheel with a server on every Python of this machine, and runs it without the checkout.
step_wheels_test() { run_pytest tests/wheels; }

# ./run chaos [SEEDS]: checks that each trial counts exactly once, while faults of all kinds happen at times that a seed
# determines.
step_chaos() { run_vitest tests/chaos chaos.test.ts; }

# ./run chaos --optuna [SEED]: kills 50 notebooks for each kind of storage, 50 devices without a browser, and 50 tabs.
step_chaos_optuna() {
  export KILLS="${KILLS:-50}" SEED="${SEED:-1}"
  HYPERFLOCK_TEST_KILLS=$KILLS HYPERFLOCK_TEST_SEED=$SEED \
    HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" \
    run_pytest -rP "${PYTHON_TESTS[@]}" python/tests/optuna/test_kills.py
  run_vitest tests/chaos optuna_tabs.test.ts
}

# ./run hostile [NAME]: runs attacks that a trial's code may try against a volunteer. With NAME, it runs only those
# whose name contains NAME.
step_hostile() { run_vitest tests/hostile; }

# ./run hostile-guests [NAME]: runs attacks that volunteers and researchers may try against the server and each other.
# With NAME, it runs only those whose name contains NAME.
step_hostile_guests() {
  HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" run_pytest "${PYTHON_TESTS[@]}" \
    -o "pythonpath=tests/support ../tests/hostile_guests" tests/hostile_guests
}

# ./run engines: tests the join page, one trial and the self-test in Firefox and WebKitGTK.
step_engines() { run_vitest tests/engines; }

# ./run compose-test: builds the images of docker-compose.yml and plays the file, with Chromium as a phone.
step_compose_test() {
  apt_install buildah nftables libnss3-tools curl iproute2 util-linux procps
  python3 deploy/sbom.py
  run_pytest -o "pythonpath=tests/compose deploy/image" tests/compose
}

# ./run first-hour: types the three commands of server/docs/operate.md on a clean Debian 12, with Chromium as a phone.
step_first_hour() {
  apt_install nftables libnss3-tools curl iproute2 util-linux
  debian_file pebble usr/bin/pebble build/cache/debian/pebble
  debian_file pebble usr/bin/pebble-challtestsrv build/cache/debian/pebble-challtestsrv
  run_pytest -o "pythonpath=tests/compose deploy/image deploy deploy/tests tests/first_hour" tests/first_hour
}

# Tests ./run itself and the scripts next to this file.
step_driver_test() { run_pytest tests/suites tests/test_*.py; }

CPP_FILES() { find server array-core -name '*.h' -o -name '*.cc'; }
PYTHON_FOLDERS=(protocol python server worker-runtime array-core tests deploy)
SHELL_SCRIPTS=(run .ci/run tests/suites/step ./*/*.sh ./*/*/*.sh ./*/*/*/*.sh)
TYPESCRIPT_PROJECTS=(worker-runtime worker-runtime/tsconfig.page.json web-client web-client/tsconfig.worker.json tests/e2e tests/hostile tests/engines tests/chaos tests/compose)

# mypy_in FOLDER ARGUMENT...: runs mypy in a folder, because mypy finds a package's settings only in the current folder.
mypy_in() { (cd "$1" && mypy "${@:2}"); }

step_lint() {
  local cpp project
  mapfile -t cpp < <(CPP_FILES)
  check clang-format --dry-run --Werror "${cpp[@]}"
  check npx biome ci --error-on-warnings .
  for project in "${TYPESCRIPT_PROJECTS[@]}"; do check npx tsc --noEmit -p "$project"; done
  check ruff check "${PYTHON_FOLDERS[@]}"
  check ruff format --check "${PYTHON_FOLDERS[@]}"
  check mypy_in python
  check mypy_in array-core/python --strict arraycore
  check mypy_in tests/suites --strict driver.py
  check mypy --strict --explicit-package-bases protocol
  check shellcheck --external-sources "${SHELL_SCRIPTS[@]}"
  check python3 tests/house_rules.py
  check python3 tests/folder_arrows.py
}

format_command() {
  python3 -m protocol.generator
  python3 array-core/calls/generate.py
  CPP_FILES | xargs clang-format -i
  npx biome check --write .
  ruff check --fix "${PYTHON_FOLDERS[@]}"
  ruff format "${PYTHON_FOLDERS[@]}"
}
