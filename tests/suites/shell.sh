# Sourced by ./run and tests/suites/step: the environment, small helpers, and the steps of every part.
# shellcheck shell=bash disable=SC2034

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export ROOT
export PATH="$ROOT/build/venv/bin:$PATH"
# For ccache, paths below ROOT count as relative, so two clones share their compiled files.
export CCACHE_DIR="${CCACHE_DIR:-$ROOT/build/cache/ccache}" CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-2G}"
export CCACHE_BASEDIR="$ROOT" CCACHE_NOHASHDIR=1
# ccache's manual requires these settings if headers are precompiled.
export CCACHE_SLOPPINESS=pch_defines,time_macros
# Node caches compiled scripts here, and TypeScript files without their types.
export NODE_COMPILE_CACHE="$ROOT/build/cache/node"
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
JOBS=${JOBS:-$(nproc)}
LOGS=$ROOT/build/logs

say() { printf '%s\n' "$*"; }
die() { printf 'run: %s\n' "$*" >&2; exit 1; }

# fingerprint PATH...: prints one hash over the content of files and folders, without build products.
fingerprint() {
  find "$@" -type f -not -path '*/node_modules/*' -not -path '*/__pycache__/*' -print0 2>/dev/null |
    sort -z | xargs -0 -r sha256sum | sha256sum | cut -d' ' -f1
}
# up_to_date NAME KEY: succeeds if step NAME last ended well with KEY. mark NAME KEY: records such an end.
up_to_date() { [[ -f $ROOT/build/stamps/$1 && $(<"$ROOT/build/stamps/$1") == "$2" ]]; }
mark() { mkdir -p "$ROOT/build/stamps" && printf '%s' "$2" >"$ROOT/build/stamps/$1"; }

# check COMMAND...: runs a command and continues after a failure. The step then fails at its end.
FAILED=0
check() {
  "$@" && return
  printf 'failed: %.200s\n' "$*"
  FAILED=1
}

# one_in N: prints N, or 1 with --whole. A suite on the software device runs one case in N.
one_in() { if [[ ${HYPERFLOCK_WHOLE:-} ]]; then echo 1; else echo "$1"; fi; }

# run_pytest and run_vitest run tests through `check` (above), and write a JUnit report for each run. pytest keeps the
# folders of failed tests alone: those of all tests take gigabytes.
REPORTS=0
run_pytest() { # ARGUMENT...
  check python3 -m pytest -q -p no:cacheprovider -o tmp_path_retention_policy=failed \
    --junitxml="$JUNIT/$((++REPORTS)).xml" "$@"
}
run_vitest() { # FOLDER ARGUMENT...
  check npx vitest run --root "$1" --reporter=verbose --reporter=junit \
    --outputFile.junit="$JUNIT/$((++REPORTS)).xml" "${@:2}"
}

# shellcheck source=deploy/debian.sh
. "$ROOT/deploy/debian.sh"
for file in "$ROOT"/*/steps.sh; do
  # shellcheck source=/dev/null
  . "$file"
done
