#!/usr/bin/env bash
# Makes a Debian 12 with Python as a tar, in place of the base image of a registry: debian.sh FOLDER TAR
set -euo pipefail
folder=$1 tar=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/suites/shell.sh
. tests/suites/shell.sh
sources=$(debian_sources | grep ' bookworm') || sources="deb $(debian_mirror) bookworm main"
debian_root "$folder" bookworm ca-certificates,python3,python3-venv "$sources" --variant=minbase
# The files that say how this machine reaches package registries, and which certificate authorities it trusts.
for file in /etc/{resolv.conf,pip.conf,ssl/certs/ca-certificates.crt} /root/.config/pip/pip.conf; do
  [[ ! -f $file ]] || install -D "$file" "$folder$file"
done
tar -C "$folder" -cf "$tar.new" .
mv "$tar.new" "$tar"
