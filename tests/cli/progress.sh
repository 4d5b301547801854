#!/usr/bin/env bash
# Tests the server's list of running commands (board): /v1/progress must list bench and study while they run.
. "$(dirname "$0")/lib.sh"
server= child=
trap 'kill $server $child 2>/dev/null; rm -rf "$work"' EXIT
start() { # OPTIONS…
  rm -f "$work/url"
  howmany serve --listen 127.0.0.1:0 --quiet --record none "$@" >"$work/url" 2>"$work/serve.err" &
  server=$!
  wait_for 30 test -s "$work/url"
  url=$(cat "$work/url")
}
stop() { kill "$server" && wait "$server" 2>/dev/null; server=; }
progress() { curl -sS -m 10 "$url/v1/progress"; }
listed() { progress | jq -e "$1" >/dev/null; } # FILTER

start
board=$HOME/.local/share/howmany/progress
check "the server makes the board, for its user only" test "$(stat -c %a "$board")" = 600
check "without a running command the list is empty" test "$(progress | jq -c .)" = '{"tasks":[]}'
howmany bench 'sleep 0.4' -n 4 --repeat 50 >/dev/null 2>&1 &
child=$!
check "bench is listed with its command, its run and its measurements" wait_for 20 listed \
  '.tasks[0] | .command == "bench" and .title == "sleep 0.4" and (.message | startswith("n = 4, run ")) and .total == 50 and .done < 50 and .elapsed_s > 0 and .points[0].n == 4 and .points[0].seconds > 0.3'
mv "$board" "$board.away"
check "a request opens no file: the list is complete after the file was moved" listed '.tasks | length == 1'
mv "$board.away" "$board"
kill -9 "$child" && wait "$child" 2>/dev/null
check "after kill -9 it is not listed" test "$(progress | jq -c .)" = '{"tasks":[]}'
check "the list is described in OpenAPI" bash -c "curl -sS -m 10 '$url/openapi.json' | jq -e '.paths[\"/v1/progress\"].get and .components.schemas.progress_task.properties.left_s' >/dev/null"
check "it takes no other method" bash -c "curl -sS -m 10 -o /dev/null -w '%{http_code}' -X POST -H 'Content-Type: application/json' -d '{}' '$url/v1/progress' | grep -qx 405"
if [ -n "${HM_SMPIMAIN:-}" ]; then
  howmany study examples/study.yaml --folder "$work/study" >/dev/null 2>&1 &
  child=$!
  check "study is listed with its budget" wait_for 30 listed '.tasks[0] | .command == "study" and (.title | endswith("/study")) and .total > 0 and (.message | test("^run \\d+: .* used, .* left"))'
  kill "$child" && wait "$child" 2>/dev/null
else
  skip "study is listed with its budget" "built without SimGrid, or with sanitizers"
fi
stop
howmany bench 'sleep 0.4' -n 4 --repeat 50 >/dev/null 2>&1 &
child=$!
start --progress "$work/own/board"
check "a board of another name is made with its folder" test -s "$work/own/board"
check "a command that reports elsewhere is not listed there" test "$(progress | jq -c .)" = '{"tasks":[]}'
kill "$child" && wait "$child" 2>/dev/null
HOWMANY_PROGRESS=$work/own/board howmany bench 'sleep 0.4' -n 4 --repeat 50 >/dev/null 2>&1 &
child=$!
check "HOWMANY_PROGRESS names the board" wait_for 20 listed '.tasks | length == 1'
kill "$child" && wait "$child" 2>/dev/null
child=
stop
rm -f "$board"
start --progress none
check "with none there is no board" test ! -e "$board"
check "with none the list is empty" test "$(progress | jq -c .)" = '{"tasks":[]}'
stop
echo precious >"$work/text"
expect "a board does not overwrite another file" 2 "--progress: $work/text is another file" timeout 60 howmany serve --listen 127.0.0.1:0 --record none --progress "$work/text"
check "which stays" grep -qx precious "$work/text"
howmany serve --listen 127.0.0.1:0 --quiet --record none --progress none >/dev/full 2>"$work/serve.err" &
server=$!
check "an address that cannot be printed is reported" wait_for 30 grep -q 'the address cannot be printed: No space left' "$work/serve.err"
stop
expect "a limit of memory beyond any machine is refused" 2 "--memory-limit: '1e300GB' is more than 1 PiB" timeout 60 howmany serve --listen 127.0.0.1:0 --record none --memory-limit 1e300GB
expect "a board that cannot be made is reported" 2 "--progress: " howmany serve --listen 127.0.0.1:0 --record none --progress /dev/null/x
howmany bench true -n 1 >/dev/null 2>&1
check "a command alone makes no board" test ! -e "$board"
# ---- pipes that nobody reads
full=$work/full
mkfifo "$full"
exec 9<>"$full"
python3 - "$full" <<'END'
import os, sys
pipe = os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK)
try:
    while True:
        os.write(pipe, bytes(4096))
except BlockingIOError:
    pass
END
blocked() { [ "$(uname -m)" != x86_64 ] || grep -q "^1 0x$1 " "/proc/$child/syscall"; } # STREAM: the command waits in write()
ended() { ! kill -0 "$child"; }
stops() { # NAME STREAM COMMAND…: SIGTERM ends it while it waits to write to the stream
  local name=$1 stream=$2 code
  shift 2
  if [ "$stream" = 1 ]; then "$@" >"$full" 2>"$work/err" & else "$@" >"$work/out" 2>"$full" & fi
  child=$!
  wait_for 60 blocked "$stream" && kill "$child" && wait_for 60 ended
  code=$?
  [ $code -eq 0 ] || kill -9 "$child"
  wait "$child"
  [ $? -eq 130 ] && [ $code -eq 0 ]
  say $? "$name"
}
stops "a training ends that waits for the reader of its trace" 1 howmany train -d sparse:400x50:0.2 -n 1 --iterations 100000000 --json
stops "a measurement ends that waits for the reader of its output" 2 howmany bench 'yes {n}' -n 1 --repeat 1 --show-output
howmany bench 'yes {n}' -n 1 --repeat 1 --show-output --timeout 1s >"$work/out" 2>"$full" &
child=$!
is_over() { ! pgrep -P "$child" -x yes; }
check "a measurement starts" wait_for 60 pgrep -P "$child" -x yes
check "its time limit holds, although nobody reads its output" wait_for 60 is_over
kill "$child"
check "and SIGTERM ends it" wait_for 60 ended
wait "$child" 2>/dev/null
child=
exec 9>&-
finish
