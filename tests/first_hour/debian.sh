#!/usr/bin/env bash
# Makes a Debian 12 as an installation leaves it, with systemd and nothing of ours, as a tar: debian.sh FOLDER TAR
set -euo pipefail
folder=$1 tar=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/suites/shell.sh
. tests/suites/shell.sh
sources=$(debian_sources | grep ' bookworm') || sources="deb $(debian_mirror) bookworm main"
# The installer leaves apt's lists of packages.
debian_root "$folder" bookworm systemd-sysv,ca-certificates "$sources" --variant=minbase --skip=cleanup/apt/lists
# The files that say how this machine reaches Debian's mirror, and which certificate authorities it trusts.
for file in /etc/resolv.conf /etc/ssl/certs/ca-certificates.crt; do
  [[ ! -f $file ]] || install -D "$file" "$folder$file"
done
tar -C "$folder" -cf "$tar.new" .
mv "$tar.new" "$tar"
rm -rf "$folder"
