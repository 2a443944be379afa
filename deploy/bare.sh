# ./run bare: runs the README's commands on a Debian 12 with nothing installed, as a new user would. On a machine on
# which they ran before, a missing install step would not be noticed.
# shellcheck shell=bash disable=SC2153

# bare_command COMMAND...: makes a Debian 12 in build/bare, clones the last commit there, and runs the command in it.
bare_command() {
  local root=$ROOT/build/bare sources file began
  ((EUID == 0)) || die "only root can make a Debian in a folder"
  command -v apt-get >/dev/null || die "a Debian in a folder can be made only on Debian"
  unshare --mount true 2>/dev/null || die "this machine does not allow mounts, which a browser in a folder needs"
  [[ -z $(git status --porcelain) ]] || say "uncommitted changes are left out"
  sources=$(debian_sources | grep ' bookworm') || sources="deb $(debian_mirror) bookworm main"
  say "a bare Debian 12: $root"
  debian_root "$root" bookworm ca-certificates,git "$sources" --variant=minbase >"$LOGS/bare.log" 2>&1 ||
    { tail -n 20 "$LOGS/bare.log" >&2; die "no Debian could be made; see build/logs/bare.log"; }
  # Copies the files that say how this machine reaches package registries, and which certificate authorities it trusts.
  for file in /etc/{resolv.conf,pip.conf,npmrc,ssl/certs/ca-certificates.crt} /root/{.npmrc,.config/pip/pip.conf}; do
    [[ ! -f $file ]] || install -D "$file" "$root$file"
  done
  git clone --quiet --no-hardlinks "$ROOT" "$root/root/hyperflock"
  began=$SECONDS
  # Mounts and processes end together with the command.
  # shellcheck disable=SC2016
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
    unshare --mount --pid --fork --kill-child /bin/bash -c '
      mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" /bin/bash -c "cd /root/hyperflock && \"\$@\"" run "$@"' "$root" "$@"
  local status=$?
  say "$* on a bare Debian 12: exit status $status after $((SECONDS - began)) s"
  return $status
}
