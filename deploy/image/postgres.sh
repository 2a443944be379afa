#!/bin/sh
# The database of deploy/compose/postgres.yml. The first start makes it, with a password that nobody is told; every start
# then runs PostgreSQL.
#
#   /database        a volume: the database's files, in a folder with the name of PostgreSQL's version
#   /run/database    a volume that the server reads: the password
set -eu
umask 077
version=15
data=/database/$version
password=/run/database/password

fail() {
  echo "database: $1" >&2
  exit 1
}

# alone FOLDER: runs the statements that it reads, one a line, while nothing listens.
alone() {
  # A statement that fails may have a password in it, which then is not used.
  postgres --single -D "$1" -c exit_on_error=on -c log_min_error_statement=panic postgres >/dev/null
}

for folder in /database /run/database; do
  [ -w "$folder" ] || fail "cannot write $folder: its volume has to belong to the user $(id -u)."
done
for other in /database/[0-9]*; do
  [ "$other" = "$data" ] || [ "$other" = "$data.part" ] || [ -d "$data" ] || [ ! -d "$other" ] ||
    fail "the volume has a database of PostgreSQL ${other##*/}, and this image has $version. Go back to the image before, \
make a backup, and restore it into an empty volume (server/docs/compose.md)."
done

if [ ! -d "$data" ]; then
  # A first start that was interrupted begins again.
  rm -rf "$data.part"
  initdb --pgdata="$data.part" --username=postgres --encoding=UTF8 --locale=C.UTF-8 --data-checksums \
    --no-instructions >/dev/null || fail "no database could be made in the volume; PostgreSQL says why above."
  # Programs in this container need no password: docker compose exec database psql -U postgres
  printf 'own hyperflock hyperflock\nown hyperflock postgres\n' >"$data.part/pg_ident.conf"
  printf 'local all all peer map=own\nhost hyperflock hyperflock all scram-sha-256\n' >"$data.part/pg_hba.conf"
  printf 'CREATE ROLE hyperflock LOGIN\nCREATE DATABASE hyperflock OWNER hyperflock\n' | alone "$data.part" ||
    fail "no database could be made in the volume; PostgreSQL says why above."
  sync
  mv "$data.part" "$data"
fi

# Whoever removes the file and starts the database and the server again has a new password.
if [ ! -s "$password" ]; then
  new=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
  printf "ALTER ROLE hyperflock PASSWORD '%s'\n" "$new" | alone "$data" ||
    fail "the password could not be set; PostgreSQL says why above."
  printf '%s\n' "$new" >"$password.new"
  sync
  mv "$password.new" "$password"
fi
chmod 400 "$password" || fail "$password has to belong to the user $(id -u)."

# The server refuses a database whose commits may be lost, so these do not depend on the file in the volume.
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp -c logging_collector=off \
  -c fsync=on -c full_page_writes=on -c synchronous_commit=on -c password_encryption=scram-sha-256
