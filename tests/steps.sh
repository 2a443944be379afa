# Tests that cross parts, and the linters.
# shellcheck shell=bash

# Real browsers, real server, real training.
step_e2e() { run_vitest tests/e2e; }

# The short versions of what follows: an attempt must fail, and a trial count once, on a busy machine too.
step_hostile_test() {
  HOSTILE=short run_vitest tests/hostile
  CHAOS=1 run_vitest tests/chaos chaos.test.ts
}

# ./run chaos [SEEDS]: exactly once under seeded schedules of everything that goes wrong.
step_chaos() { run_vitest tests/chaos chaos.test.ts; }

# ./run chaos --optuna [SEED]: 50 notebooks killed for each kind of storage, 50 phones' processes and 50 tabs.
step_chaos_optuna() {
  export KILLS="${KILLS:-50}" SEED="${SEED:-1}"
  HYPERFLOCK_TEST_KILLS=$KILLS HYPERFLOCK_TEST_SEED=$SEED \
    HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" \
    run_pytest -rP "${PYTHON_TESTS[@]}" python/tests/optuna/test_kills.py
  run_vitest tests/chaos optuna_tabs.test.ts
}

# ./run hostile [NAME]: what a trial's code may try against a volunteer; all of it, or the attempts whose name has NAME in it.
step_hostile() { run_vitest tests/hostile; }

# ./run engines: the join page, one trial and the self-test in Firefox and WebKitGTK.
step_engines() { run_vitest tests/engines; }

# ./run itself and the scripts beside this file.
step_driver_test() { run_pytest tests/suites tests/test_*.py; }

CPP_FILES() { find server array-core -name '*.h' -o -name '*.cc'; }
PYTHON_FOLDERS=(protocol python worker-runtime array-core tests deploy)
SHELL_SCRIPTS=(run .ci/run tests/suites/step ./*/*.sh ./*/*/*.sh ./*/*/*/*.sh)
TYPESCRIPT_PROJECTS=(worker-runtime worker-runtime/tsconfig.page.json web-client tests/e2e tests/hostile tests/engines tests/chaos)

# mypy_in FOLDER ARGUMENT...: mypy finds a package's settings in its own folder.
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
