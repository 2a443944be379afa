#!/usr/bin/env bash
# Tests the package on every Python from 3.10 to 3.14 that this machine has. The built wheel is installed into a fresh
# environment with its requirements and those of its tests, and is imported from another folder. All tests run with the
# newer Optuna, and those that depend on Optuna also with the older one. Every version that is named must exist on this
# machine. If none is named, at least one version must exist.
#
#   versions.sh WHEEL [VERSION...]       # run by ./run python-versions
set -uo pipefail
WHEEL=$1
shift
named=$#
((named)) || set -- 3.10 3.11 3.12 3.13 3.14
ROOT=$PWD
PYENV=${PYENV_ROOT:-$HOME/.pyenv}/versions
UV=${UV_PYTHON_INSTALL_DIR:-$HOME/.local/share/uv/python}
LOGS=$ROOT/build/logs
TEST_NEEDS=(hatchling hypothesis matplotlib pandas plotly pytest scikit-learn)

# find_python VERSION: prints an interpreter that can make environments. Fails if there is none.
find_python() {
  local path
  for path in "$(type -P "python$1")" "$PYENV/$1."*/bin/python "$UV/cpython-$1."*/bin/python; do
    [[ -x $path ]] && "$path" -c 'import ssl, sqlite3, venv' 2>/dev/null && printf '%s' "$path" && return 0
  done
  return 1
}

# tested NAME PYTHON ARGUMENT...: runs tests, writes a log, and prints the last line of pytest.
tested() {
  local name=$1 python=$2 status
  shift 2
  "$python" -m pytest -q -p no:cacheprovider -m 'not browser' -c python/pyproject.toml --rootdir python "$@" >"$LOGS/$name.log" 2>&1
  status=$?
  printf '%s, Optuna %s: %s\n' "$("$python" --version)" "$("$python" -c 'import optuna; print(optuna.__version__)')" \
    "$(tail -n 1 "$LOGS/$name.log")"
  return "$status"
}

# installed PYTHON FOLDER: makes an environment in this folder, installs the wheel into it, and imports the package.
installed() {
  "$1" -m venv "$2" &&
    "$2/bin/python" -m pip install -q "${WHEEL}[dashboard,optuna,parquet]" "${TEST_NEEDS[@]}" &&
    (cd "$2" && bin/python -I -c 'import hyperflock, hyperflock.optuna; hyperflock.Client, hyperflock.optuna.Storage') &&
    "$2/bin/hyperflock" --version
}

failed=0
tried=0
for version in "$@"; do
  if ! found=$(find_python "$version"); then
    printf 'Python %s: not here\n' "$version"
    continue
  fi
  tried=$((tried + 1))
  place=$ROOT/build/pythons/$version
  rm -rf "$place"
  if ! installed "$found" "$place" >"$LOGS/python-$version-install.log" 2>&1; then
    printf 'Python %s: the wheel cannot be installed or imported; see build/logs/python-%s-install.log\n' "$version" "$version"
    failed=1
    continue
  fi
  tested "python-$version" "$place/bin/python" python/tests || failed=1
  "$place/bin/python" -m pip install -q 'optuna>=4,<5' >>"$LOGS/python-$version-install.log" 2>&1
  tested "python-$version-optuna4" "$place/bin/python" python/tests/optuna || failed=1
done
if ((!tried || (named && tried < named))); then
  printf 'looked for pythonVERSION on PATH, %s/VERSION.*/bin/python and %s/cpython-VERSION.*/bin/python, with ssl, sqlite3 and venv\n' \
    "$PYENV" "$UV" >&2
  failed=1
fi
exit "$failed"
