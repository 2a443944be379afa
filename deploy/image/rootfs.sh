#!/usr/bin/env bash
# Makes FOLDER a Debian 12 that can do nothing but run the server: the libraries with which the server is linked, the
# authorities that it trusts, time zones, and one user. There is no shell and no package manager. The packages are
# unpacked only, so this needs neither root nor a container engine.
#
#   deploy/image/rootfs.sh FOLDER
#
# Needs Debian 12. Scanners find the packages in
# /var/lib/dpkg/status.d; system.cdx.json lists them with the hashes that apt verified.
set -euo pipefail
root=$1
packages=(base-files ca-certificates libc6 libfmt9 libgcc-s1 libprometheus-cpp-core1.0 libspdlog1.10 libssl3 libstdc++6
  tzdata zlib1g
  # libpq and what it loads
  libpq5 libcom-err2 libffi8 libgmp10 libgnutls30 libgssapi-krb5-2 libhogweed6 libidn2-0 libk5crypto3 libkeyutils1
  libkrb5-3 libkrb5support0 libldap-2.5-0 libnettle8 libp11-kit0 libsasl2-2 libtasn1-6 libunistring2)
doc=usr/share/doc/hyperflock-server

rm -rf "$root"
mkdir -p "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# apt drops root for downloads, and its user must be able to write here.
chmod 755 "$work"
chown _apt "$work" 2>/dev/null || true
(
  cd "$work"
  # The lists of apt may be older than its mirror.
  apt-get -q download "${packages[@]}" || { apt-get -q update && apt-get -q download "${packages[@]}"; }
)

# As Debian 12 has it: /lib is a link to /usr/lib.
mkdir -p "$root"/usr/{bin,lib,lib64,sbin}
for name in bin lib lib64 sbin; do ln -s "usr/$name" "$root/$name"; done
mkdir -p "$root/var/lib/dpkg/status.d" "$root/$doc"
components=
for deb in "$work"/*.deb; do
  name=$(dpkg-deb --field "$deb" Package)
  # tar writes through the links above, where `dpkg-deb --extract` would replace them.
  dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$root" --keep-directory-symlink --no-same-owner
  dpkg-deb --field "$deb" >"$root/var/lib/dpkg/status.d/$name"
  version=$(dpkg-deb --field "$deb" Version)
  hash=$(sha256sum "$deb" | cut -d' ' -f1)
  purl="pkg:deb/debian/${name//+/%2B}@${version//+/%2B}?distro=bookworm"
  components+=${components:+,}$(printf '\n    {"type": "library", "bom-ref": "system/%s", "name": "%s", "version": "%s", "purl": "%s",' \
    "$purl" "$name" "$version" "$purl")
  components+=$(printf '\n     "hashes": [{"alg": "SHA-256", "content": "%s"}]}' "$hash")
done
printf '{\n  "bomFormat": "CycloneDX",\n  "specVersion": "1.6",\n  "version": 1,\n  "components": [%s\n  ]\n}\n' \
  "$components" >"$root/$doc/system.cdx.json"

# What no program here reads. Licences stay.
rm -rf "$root"/usr/share/{bash-completion,bug,debconf,info,lintian,man,locale,gdb} "$root"/usr/lib/*/gconv
rm -rf "${root:?}"/usr/sbin/* "${root:?}"/usr/bin/* "$root"/etc/{default,profile.d,skel,update-motd.d,dpkg} "$root/etc/profile"
find "$root/usr/share/doc" -type f ! -name copyright ! -name '*.cdx.json' -delete
find "$root/usr/share/doc" -type d -empty -delete

mkdir -p "$root"/{etc/ssl/certs,tmp,proc,sys,dev,run} "$root/var/tmp"
chmod 1777 "$root/tmp" "$root/var/tmp"
cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
printf 'root:x:0:0:root:/:/sbin/nologin\nhyperflock:x:10001:10001:Hyperflock:/var/lib/hyperflock:/sbin/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nhyperflock:x:10001:\n' >"$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
