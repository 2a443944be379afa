# ./run reproducible: shows that the same commit gives the same server.
# shellcheck shell=bash

# reproducible_command: builds the server of the wheels twice from the last commit, in folders of different names, one
# after the other, and without ccache. Both programs must have the same bytes.
reproducible_command() {
  local place=$ROOT/build/reproducible folder sums=()
  rm -rf "$place"
  for folder in one another/and-a-longer-name; do
    mkdir -p "$place/$folder"
    git clone --quiet "$ROOT" "$place/$folder"
    mkdir -p "$place/$folder/build/cache"
    cp -a build/cache/{sqlite,prometheus-cpp} "$place/$folder/build/cache/"
    say "builds the server in $place/$folder"
    (
      cd "$place/$folder" || exit 1
      export CCACHE_DISABLE=1
      cmake --preset portable && cmake --build --preset portable -j "$JOBS" --target hyperflock-server
    ) >"$LOGS/reproducible.log" 2>&1 || { tail -n 20 "$LOGS/reproducible.log" >&2; die "the server could not be built"; }
    sums+=("$(sha256sum <"$place/$folder/build/portable/bin/hyperflock-server")")
  done
  [[ ${sums[0]} == "${sums[1]}" ]] || die "two builds gave two programs: compare those in $place"
  say "two builds gave the same program: ${sums[0]%% *}"
  rm -rf "$place"
}
