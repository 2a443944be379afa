# Finds or installs the Emscripten compiler. Sourced by steps.sh; needs ROOT and deploy/debian.sh.
# shellcheck shell=bash
#
# `emcc` on PATH is used if it is new enough. Otherwise, on Debian as root, a folder with Debian 13 is made and entered
# by chroot, because Debian 12's Emscripten is too old and Debian 13's packages do not run on Debian 12. Sources are
# copied into that folder and build results out of it, because a container may not be allowed to mount.

EMSCRIPTEN_ROOT=$ROOT/build/cache/emscripten-root
EMSCRIPTEN_OLDEST=3.1.50

# emcc_on_path: succeeds if `emcc` on PATH is not older than EMSCRIPTEN_OLDEST.
emcc_on_path() {
  local version
  command -v emcc >/dev/null || return 1
  version=$(emcc -dumpversion 2>/dev/null) || return 1
  [[ $(printf '%s\n%s\n' "$EMSCRIPTEN_OLDEST" "$version" | sort -V | head -n 1) == "$EMSCRIPTEN_OLDEST" ]]
}

# emscripten_root_made: succeeds if the folder is complete, which the file `made` shows.
emscripten_root_made() { [[ -f $EMSCRIPTEN_ROOT/made ]]; }

make_emscripten_root() {
  local mirror libraries=/usr/share/emscripten/cache/sysroot/lib/wasm32-emscripten
  if ((EUID)) || ! command -v apt-get >/dev/null; then
    echo "Install Emscripten $EMSCRIPTEN_OLDEST or newer and put emcc on PATH; only root on Debian can do without."
    return 1
  fi
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || { echo "Run apt-get update with a Debian mirror in /etc/apt, or put emcc $EMSCRIPTEN_OLDEST on PATH."; return 1; }
  # Without what array-core does not link: 1.2 of 2.4 GB.
  debian_root "$EMSCRIPTEN_ROOT" trixie emscripten,cmake,ninja-build "deb $mirror trixie main" --variant=essential \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt="path-exclude=$libraries/pic/*" --dpkgopt="path-exclude=$libraries/lto*/*"
  rm -rf "$EMSCRIPTEN_ROOT"/var/cache/apt/archives/*.deb "$EMSCRIPTEN_ROOT"/var/lib/apt/lists/*
  touch "$EMSCRIPTEN_ROOT/made"
}

emscripten_setup() {
  if emcc_on_path; then
    echo "emcc $(emcc -dumpversion) on PATH"
    return
  fi
  emscripten_root_made || make_emscripten_root
  echo "emcc $(in_emscripten_root / emcc -dumpversion) in $EMSCRIPTEN_ROOT"
}

# in_emscripten_root FOLDER COMMAND...: runs the command in this folder of the Debian 13 root, with a clean environment.
in_emscripten_root() {
  local folder=$1
  shift
  # shellcheck disable=SC2016
  env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 \
    "$(command -v chroot)" "$EMSCRIPTEN_ROOT" /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
}

# mirror PART FROM TO: copies files that differ, and removes files that FROM lacks. A copy gets the current time, so
# that a file which changed during the last build is compiled again.
mirror() {
  local part=$1 from=$2 to=$3 file
  (cd "$from" && find "$part" -type f) | while read -r file; do
    cmp -s "$from/$file" "$to/$file" && continue
    mkdir -p "$to/$(dirname "$file")"
    cp "$from/$file" "$to/$file"
  done
  (cd "$to" && find "$part" -type f) | while read -r file; do
    [[ -f $from/$file ]] || rm "$to/$file"
  done
}

# wasm_build OUT: compiles array-core into OUT/arraycore.wasm and, for relaxed SIMD, OUT/arraycore-relaxed.wasm.
wasm_build() {
  local out=$1 flags='-pthread -msimd128' inside=$EMSCRIPTEN_ROOT/hyperflock part
  local options=(-G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=$flags"
    -DHYPERFLOCK_SERVER=OFF -DHYPERFLOCK_TESTS=OFF -DHYPERFLOCK_BENCH=OFF -DHYPERFLOCK_UNITY=ON)
  mkdir -p "$out"
  if emcc_on_path; then
    emcmake cmake -S "$ROOT" -B "$ROOT/build/wasm" "${options[@]}"
    cmake --build "$ROOT/build/wasm" --target arraycore_wasm arraycore_relaxed_wasm -j "$JOBS"
    cp "$ROOT"/build/wasm/bin/arraycore{,-relaxed}.wasm "$out"
    return
  fi
  for part in CMakeLists.txt array-core/{CMakeLists.txt,include,src,wasm}; do mirror "$part" "$ROOT" "$inside/source"; done
  in_emscripten_root /hyperflock emcmake cmake -S source -B build "${options[@]}"
  in_emscripten_root /hyperflock cmake --build build --target arraycore_wasm arraycore_relaxed_wasm -j "$JOBS"
  cp "$inside"/build/bin/arraycore{,-relaxed}.wasm "$out"
}
