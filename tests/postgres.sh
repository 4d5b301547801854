#!/usr/bin/env bash
# Run a command with HM_STORE_SERVER set to a PostgreSQL of its own: postgres.sh COMMAND…
# The cluster is in a temporary folder and listens only on a socket in this folder; both are removed after the command. The
# machine's own clusters are not touched. An argument '$HM_STORE_SERVER', in single quotes, is replaced by the address:
# no shell would expand it here, and a program would take it for the name of a file.
set -u
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$bin/initdb" ] || bin=$(dirname "$(command -v initdb 2>/dev/null || echo /nowhere/initdb)")
if [ ! -x "$bin/initdb" ]; then
  echo "1..0 # skipped: no PostgreSQL"
  exit 0
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/howmany-pg-XXXXXX")
as= # initdb refuses to be root
if [ "$(id -u)" = 0 ]; then
  as="setpriv --reuid=postgres --regid=postgres --clear-groups --"
  chown postgres: "$folder"
fi
stop() {
  [ -f "$folder/data/postmaster.pid" ] && $as "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1
  rm -rf "$folder"
}
trap stop EXIT
trap 'kill "$child" 2>/dev/null; exit 1' INT TERM HUP
child=

# In tests (HM_BUILD is set), initdb runs once for each build, and later clusters are copies of the first. Their server does not
# wait for the disk: the tests kill processes, after which the kernel still writes what the server wrote.
model=${HM_BUILD:+$HM_BUILD/postgres-$(basename "$(dirname "$bin")")} options=
[ -z "$model" ] || options="-c fsync=off -c full_page_writes=off"
make_cluster() {
  [ -n "$model" ] && [ -d "$model" ] && cp -a "$model" "$folder/data" && return
  $as "$bin/initdb" -D "$folder/data" -A trust -U howmany -E UTF8 --locale=C.UTF-8 --no-sync ${model:+--wal-segsize=1} >"$folder/log" 2>&1 || return
  [ -z "$model" ] || { rm -rf "$model.new" && cp -a "$folder/data" "$model.new" && mv -T "$model.new" "$model"; }
}
start() {
  cd "$folder" || return
  if [ -n "$model" ]; then (flock 9 && make_cluster) 9>"$model.lock"; else make_cluster; fi &&
    $as "$bin/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 \
      -o "-c listen_addresses='' -k '$folder' -c shared_buffers=64MB $options" start >/dev/null 2>&1
}
if ! (start); then
  echo "Bail out! PostgreSQL does not start"
  cat "$folder/log" "$folder/server.log" 2>/dev/null | sed "s/^/# /"
  exit 1
fi
export HM_STORE_SERVER="postgresql://howmany@/postgres?host=$folder"
command=("$@")
for i in "${!command[@]}"; do
  [ "${command[i]}" != '$HM_STORE_SERVER' ] || command[i]=$HM_STORE_SERVER
done
"${command[@]}" &
child=$!
wait "$child"
