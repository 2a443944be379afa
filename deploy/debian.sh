# Makes a Debian in a folder with mmdebstrap: for a compiler that is too new for this machine's Debian, and for ./run
# bare. Sourced by every steps.sh; needs apt_install.
# shellcheck shell=bash

# debian_sources: prints the Debian archives of this machine's apt, as lines of a sources.list.
debian_sources() {
  # shellcheck disable=SC2016
  apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Origin: Debian' 2>/dev/null | sort -u
}

# debian_mirror: prints the address from which this machine's apt installs its own release.
debian_mirror() { debian_sources | grep -v security | head -n 1 | cut -d' ' -f2; }

# apt_settings: prints the settings of this machine's apt that decide how a mirror is reached and verified.
apt_settings() { apt-config dump --format '%F "%v";%n' Acquire | grep -E '^Acquire::(Check|Retries|http|https)' || true; }

# debian_root FOLDER RELEASE PACKAGES SOURCES OPTION...: makes FOLDER a Debian of this release with these packages
# (NAME,NAME). SOURCES are lines of a sources.list, or a mirror. The folder's apt gets this machine's settings.
debian_root() {
  local folder=$1 release=$2 packages=$3 sources=$4 settings mode=()
  apt_install mmdebstrap debian-archive-keyring
  rm -rf "$folder"
  mkdir -p "$folder"
  settings=$(mktemp)
  apt_settings >"$settings"
  # If mounting is not allowed, packages are set up without /proc and /sys, which these packages do not need.
  unshare --mount true 2>/dev/null || mode=(--skip=check/canmount)
  mmdebstrap --mode=root "${mode[@]}" --include="$packages" --aptopt="$settings" \
    --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "${@:5}" "$release" "$folder" - <<<"$sources"
  rm "$settings"
}
