#!/usr/bin/env bash
# Tests the store of howmany serve: runs are compared with the command line, keys, recommendations, tokens, failures
# of the store, and servers that are killed; with a file and, if available, with a PostgreSQL server that
# the test starts and that several servers share.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_lib.sh"
keep=$HM_BUILD/tests/http/keep

cat >"$work/runs.csv" <<'END'
n,batch,latency (ms),seconds,machine,status,note
1,6400,0,96,m5.large,ok,first
2,6400,0,82,m5.large,ok,
2,6400,0,83,m5.large,ok,
4,64000,0,,m5.large,out of memory,"a ""quoted"", one"
4,6400,60,341,m5.xlarge,ok,last
END
{ echo algorithm,m,iteration,seconds,loss
  for m in 1 2 4; do for i in 1 2 3; do echo "cocoa,$m,$i,0.0$m,0.$((9 - i))"; done; done; } >"$work/traces.csv"

answers() { # NAME FILTER curl options…: the status is 200 and the JSON makes the jq filter true
  local name=$1 filter=$2
  shift 2
  get -o "$work/body" -w '%{http_code}' "$@" >"$work/head"
  if [ "$(cat "$work/head")" = 200 ] && jq -e "$filter" "$work/body" >/dev/null; then
    say 0 "$name"
  else
    echo "# $(cat "$work/head"): $(head -c 300 "$work/body")"
    say 1 "$name"
  fi
}
listed() { # NAME QUERY COMMAND…: the body of a GET equals the output of the command
  local name=$1 query=$2
  shift 2
  "$@" >"$work/expected" 2>"$work/err"
  check "$name" cmp "$work/expected" <(get "$url/v1/runs$query")
}

suite() { # STORE KIND
  local store=$1 kind=$2 json='Content-Type: application/json' samples id
  export HOWMANY_DB=$store
  start --record "$store"
  answers "$kind: an empty store" '.runs == [] and .next == null' "$url/v1/runs"
  get -d '{"loss":"1e-3"}' -H "$json" "$url/v1/advise" >"$work/body"
  check "$kind: an error does not show where the store is" jq -e '.status == 422 and (has("source") | not)' "$work/body"
  answers "$kind: a table is stored" '.runs == 5 and .traces == 0 and .added == 5 and (.ids | length) == 5' \
    --data-binary @"$work/runs.csv" -H 'Content-Type: text/csv' "$url/v1/runs"
  same "$kind: a second POST has the answer of the command" /v1/runs text/csv "$work/runs.csv" howmany runs import "$work/runs.csv" --json
  check "$kind: a second POST adds nothing" jq -e '.added == 0' "$work/answer"
  answers "$kind: traces are stored" '.traces == 3 and .added == 3' --data-binary @"$work/traces.csv" -H 'Content-Type: text/csv' "$url/v1/runs"
  answers "$kind: one run as JSON is stored" '.added == 1 and (.ids | length) == 1' -d '{"n":8,"batch":64,"latency":"5 ms","seconds":1.5,"gpu":"a100"}' -H "$json" "$url/v1/runs"
  answers "$kind: a list of runs is stored" '.added == 2' -d '[{"n":8,"seconds":2.5},{"n":8,"seconds":2.5}]' -H "$json" "$url/v1/runs"
  answers "$kind: runs in an object with a key are stored" '.added == 1' -d '{"runs":[{"n":16,"seconds":2.5}],"key":"mine"}' -H "$json" "$url/v1/runs"
  answers "$kind: JSON lines are stored" '.added == 2' --data-binary $'{"n":9,"seconds":3}\n{"n":10,"seconds":4}\n' -H 'Content-Type: application/x-ndjson' "$url/v1/runs"
  for k in 1 2; do
    answers "$kind: an Idempotency-Key adds a run once, request $k" ".added == $((2 - k))" -d '{"n":3,"seconds":7}' -H "$json" -H 'Idempotency-Key: abc' "$url/v1/runs"
  done
  problem "$kind: the same Idempotency-Key with another run" 409 '.field == "key" and (.detail | contains("abc-1"))' -d '{"n":3,"seconds":8}' -H "$json" -H 'Idempotency-Key: abc' "$url/v1/runs"
  problem "$kind: an Idempotency-Key that is not UTF-8" 422 '.field == "key" and (.detail | contains("is not UTF-8"))' -d '{"n":3,"seconds":8}' -H "$json" -H $'Idempotency-Key: \xff' "$url/v1/runs"
  for lost in '"seed":9007199254740993' '"seed":12345678901234567890' '"best":1e51' '"cost":1e51' '"n":9007199254740993'; do
    problem "$kind: a run whose ${lost%%:*} would be lost, ${lost#*:}" 422 ".field == ($(jq -c keys[0] <<<"{$lost}"))" -d "{\"nodes\":1,\"seconds\":8,$lost}" -H "$json" "$url/v1/runs"
  done
  answers "$kind: another Idempotency-Key adds another run" '.added == 1' -d '{"n":3,"seconds":7}' -H "$json" -H 'Idempotency-Key: abd' "$url/v1/runs"

  listed "$kind: a page equals that of the command" "" howmany runs list --json
  listed "$kind: a filtered page equals that of the command" '?where=n%3D2&where=machine%3Dm5.large' howmany runs list --where n=2 --where machine=m5.large --json
  listed "$kind: a filter may have a unit" '?where=latency%3E20ms' howmany runs list --where 'latency>20ms' --json
  listed "$kind: a sorted page equals that of the command" '?sort=-seconds&limit=3' howmany runs list --sort -seconds --limit 3 --json
  listed "$kind: the next page equals that of the command" "?sort=-seconds&limit=3&after=$(get "$url/v1/runs?sort=-seconds&limit=3" | jq -r .next)" \
    howmany runs list --sort -seconds --limit 3 --after "$(howmany runs list --sort -seconds --limit 3 --json | jq -r .next)" --json
  listed "$kind: a page as CSV equals that of the command" '?csv' howmany runs list --csv
  check "$kind: a page as CSV has the type text/csv" grep -qi '^content-type: text/csv' <(get -D - -o /dev/null "$url/v1/runs?csv")
  id=$(howmany runs list --where algorithm=cocoa --where n=4 --json | jq .runs[0].id)
  listed "$kind: one run with its samples" "/$id" howmany runs show "$id" --json
  check "$kind: the run has its samples" jq -e '.samples | length == 3' "$work/expected"
  problem "$kind: an unknown run gets 404" 404 '.detail | contains("no run 999")' "$url/v1/runs/999"
  problem "$kind: an invalid id gets 404" 404 'true' "$url/v1/runs/x"
  problem "$kind: an invalid condition gets 400" 400 '.field == "where"' "$url/v1/runs?where=n"
  problem "$kind: an unknown column to sort by gets 422" 422 '.field == "sort"' "$url/v1/runs?sort=nothere"
  problem "$kind: an invalid page gets 422" 422 'true' "$url/v1/runs?after=nonsense"
  problem "$kind: a limit that is given twice gets 422" 422 '.field == "limit" and (.detail | contains("twice"))' "$url/v1/runs?limit=1&limit=2"
  answers "$kind: but conditions may be given several times" '.runs | length == 0' "$url/v1/runs?where=n=1&where=n=2"
  problem "$kind: a page that is too large gets 422" 422 '.field == "limit"' "$url/v1/runs?limit=1000000"
  problem "$kind: a query cannot name a store" 422 '.field == "record"' "$url/v1/runs?record=/tmp/x.db"
  wrong "$kind: a body cannot name a store" 422 '.field == "record"' /v1/runs '{"runs":[{"n":1}],"record":"/tmp/x.db"}'
  wrong "$kind: an invalid run of a table gets 422" 422 '.field == "n" and (.detail | contains("run 2"))' /v1/runs '{"runs":"n,seconds,batch\n77,1,1\n1.5,1,1\n"}'
  answers "$kind: no run of an invalid table is stored" '.runs == []' "$url/v1/runs?where=n%3D77"
  problem "$kind: DELETE gets 405" 405 'true' -X DELETE "$url/v1/runs/1"

  listed_recommend=$(howmany recommend --batch 6400 --latency 0ms --json | jq -S 'del(.source)')
  check "$kind: a recommendation equals that of the command" test "$listed_recommend" = "$(get "$url/v1/recommend?batch=6400&latency=0ms" | jq -S 'del(.source)')"
  check "$kind: a recommendation by POST equals that of the command" test "$listed_recommend" = "$(printf '{"batch":6400,"latency":"0ms"}' | post /v1/recommend application/json - | jq -S 'del(.source)')"
  check "$kind: the response does not contain the address of the store" jq -e '.source == "the store"' <(get "$url/v1/recommend?batch=6400&latency=0ms")
  same "$kind: a recommendation from posted runs equals that of the command" '/v1/recommend?batch=64000&latency=20ms' text/csv examples/anwar.csv \
    sh -c 'cp examples/anwar.csv '"$work"'/runs && cd '"$work"' && howmany recommend runs --batch 64000 --latency 20ms --json'
  answers "$kind: a new run changes the recommendation at once" '.best.n == 32' -o /dev/null -d '{"n":32,"batch":6400,"latency":0,"seconds":1}' -H "$json" "$url/v1/runs" \
    --next -s -o "$work/body" "$url/v1/recommend?batch=6400&latency=0"
  answers "$kind: an unknown recommendation gets 200" '.provenance == "none"' "$url/v1/recommend?batch=1&latency=1ms&algorithm=none&machine=m5.large"
  wrong "$kind: a body cannot name a file" 422 'true' /v1/recommend '{"runs":"examples/anwar.csv","batch":1}'
  check "$kind: runs of the store are fitted" jq -e '.predictions[0].n == 8' <(printf '{"where":["batch=6400"],"terms":"1,1/n","target":8}' | post /v1/fit application/json -)
  check "$kind: traces of the store give advice" jq -e '.answer or .candidates or .algorithms' <(printf '{"loss":0.1,"best":0}' | post /v1/advise application/json -)
  answers "$kind: rows with an iteration are stored as one trace" '.runs == 0 and .traces == 1' -H "$json" "$url/v1/runs" \
    -d '[{"algorithm":"cocoa","m":2,"Iteration":1,"loss":0.5},{"algorithm":"cocoa","m":2,"Iteration":2,"loss":0.3}]'
  check "$kind: /metrics counts stored runs" grep -qE '^howmany_store_runs_total [1-9]' <(get "$url/metrics")
  samples='[{"iteration":1,"seconds":2.5,"elapsed_s":2.5,"loss":0.5},{"iteration":2,"seconds":null,"elapsed_s":4,"loss":-1}]'
  id=$(get -d '{"n":7,"seconds":2,"samples":'"$samples"'}' -H "$json" "$url/v1/runs" | jq '.ids[0]')
  answers "$kind: a run is stored with its samples" ".samples == $samples" "$url/v1/runs/$id"
  answers "$kind: the same run with other samples is another run" '.added == 1' -d '{"n":7,"seconds":2,"samples":[{"iteration":1}]}' -H "$json" "$url/v1/runs"
  problem "$kind: a sample with a negative time gets 422" 422 '.field == "samples.0.seconds"' -d '{"n":7,"seconds":2,"samples":[{"iteration":1,"seconds":-1}]}' -H "$json" "$url/v1/runs"
  problem "$kind: a sample without an iteration gets 422" 422 '.field == "samples.0"' -d '{"n":7,"seconds":2,"samples":[{"seconds":1}]}' -H "$json" "$url/v1/runs"
  stop
  check "$kind: the exit code is 0" test "$code" -eq 0
  start --record "$store"
  listed "$kind: after a restart all runs are listed" "?limit=100" howmany runs list --limit 100 --json
}

kill_servers() { # STORE KIND KILLS [SERVERS]: no acknowledged run is lost
  stop
  run "$keep" "$HM_PROGRAM" "$1" "$3" "${4:-1}" "$RANDOM"
  echo "$out" && [ "$code" -eq 0 ] || echo "# $err"
  say "$code" "$2: ${4:-1} server killed $3 times while runs are written: no run is lost or stored twice"
}

if [ -n "${HM_STORE_SERVER:-}" ]; then # started by tests/postgres.sh
  suite "$HM_STORE_SERVER" postgres
  first=$url
  howmany serve --listen 127.0.0.1:0 --record "$HM_STORE_SERVER" >"$work/second" 2>"$work/log2" &
  second=$!
  wait_for 30 test -s "$work/second"
  answers "postgres: a run is added at one server" '.added == 1' -d '{"n":5,"seconds":7}' -H 'Content-Type: application/json' -H 'Idempotency-Key: two' "$first/v1/runs"
  answers "postgres: another server lists it at once" '.runs[0].key == "two-1"' "$(cat "$work/second")/v1/runs?limit=1"
  answers "postgres: another server does not add the key again" '.added == 0' -d '{"n":5,"seconds":7}' -H 'Content-Type: application/json' -H 'Idempotency-Key: two' "$(cat "$work/second")/v1/runs"
  kill -TERM $second
  wait $second
  howmany runs delete --where 'id>0' --yes >/dev/null
  kill_servers "$HM_STORE_SERVER" postgres "${HM_KILLS:-10}" 2

  # A restart of the database ends the connections: the next read and the next write must succeed.
  start --record "$HM_STORE_SERVER"
  folder=${HM_STORE_SERVER##*host=}
  answers "postgres: runs are listed before a restart" '.runs | length >= 0' "$url/v1/runs?limit=1"
  main=$(head -n 1 "$folder/data/postmaster.pid")
  pgrep -P "$main" -f howmany >"$work/backends"
  kill -TERM $(cat "$work/backends")
  ended() { ! ps -p "$(paste -s -d , "$work/backends")" >/dev/null; }
  check "postgres: the connections are ended" wait_for 20 ended
  answers "postgres: runs are listed after it" '.runs | length >= 0' "$url/v1/runs?limit=1"
  answers "postgres: a run is added after it" '.added == 1' -d '{"n":6,"seconds":7}' -H 'Content-Type: application/json' "$url/v1/runs"
  check "postgres: the server stayed ready" test "$(get "$url/readyz")" = ok

  # A database that may only be read: writes fail, reads do not.
  start --record "$HM_STORE_SERVER&options=-cdefault_transaction_read_only%3Don"
  for k in 1 2; do
    problem "postgres: a read-only database refuses runs, request $k" 503 '.field == "read_only"' -d '{"n":5,"seconds":7}' -H 'Content-Type: application/json' "$url/v1/runs"
    answers "postgres: a read-only database is read, request $k" '.runs | length >= 0' "$url/v1/runs?limit=1"
    check "postgres: a server with a read-only database is ready, request $k" test "$(get "$url/readyz")" = ok
  done

  # What another program holds in a transaction.
  command -v psql >/dev/null || PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
  sql() { psql -qAt "$HM_STORE_SERVER" -c "$1" >"$work/sql" 2>&1; }
  hold() { # NAME SQL: a program runs statements in a transaction and keeps it open until `release`
    rm -f "$work/unlock"
    mkfifo "$work/unlock"
    psql -qAt "$HM_STORE_SERVER" <"$work/unlock" >"$work/lock" 2>&1 &
    locking=$!
    exec 4>"$work/unlock"
    echo "BEGIN ISOLATION LEVEL REPEATABLE READ; $2; SELECT 'locked';" >&4
    check "$1" wait_for 20 grep -q locked "$work/lock"
  }
  release() { exec 4>&-; wait $locking; }
  one_run='{"n":5,"seconds":7}' json='Content-Type: application/json'
  start --record "$HM_STORE_SERVER" --time-limit 500ms
  for held in "the store:SELECT pg_advisory_xact_lock(1752135534, hashtext(current_schema()))" \
    "the table:LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE"; do
    hold "postgres: another program locks ${held%%:*}" "${held#*:}"
    for k in 1 2; do
      problem "postgres: with ${held%%:*} locked runs are refused in time, request $k" 503 '.field == "lock"' -m 5 -d "$one_run" -H "$json" "$url/v1/runs"
      answers "postgres: with ${held%%:*} locked it is read, request $k" '.runs | length >= 0' "$url/v1/runs?limit=1"
      check "postgres: with ${held%%:*} locked the server is ready, request $k" test "$(get "$url/readyz")" = ok
    done
    release
  done

  # A program that reads for long, as pg_dump does, while so many runs are added that they are placed in the indexes.
  start --record "$HM_STORE_SERVER" --time-limit 2s
  hold "postgres: another program reads" "SELECT count(*) FROM runs"
  { echo n,seconds,seed; seq 1500 | sed 's/.*/2,1.5,&/'; } >"$work/1500.csv"
  answers "postgres: many runs are added meanwhile" '.added == 1500' --data-binary @"$work/1500.csv" -H 'Content-Type: text/csv' "$url/v1/runs"
  for k in 1 2 3; do
    answers "postgres: then runs are read, request $k" '.runs | length == 1' -m 5 "$url/v1/runs?limit=1"
    answers "postgres: then a run is added, request $k" '.added == 1' -m 5 -d "{\"n\":5,\"seconds\":$((k + 8))}" -H "$json" "$url/v1/runs"
  done
  release

  # A commit that waits for a standby that is not there: the answer is in time, and /readyz tells.
  sql "ALTER SYSTEM SET synchronous_standby_names = 'none'"
  sql "SELECT pg_reload_conf()"
  waits() { sql "SHOW synchronous_standby_names" && grep -q none "$work/sql"; }
  check "postgres: commits wait for a standby" wait_for 20 waits
  problem "postgres: a commit that waits is refused in time" 503 'true' -m 8 -d '{"n":5,"seconds":0.3}' -H "$json" "$url/v1/runs"
  check "postgres: readyz tells that commits wait" sh -c "curl -s -o /dev/null -w '%{http_code}' '$url/readyz' | grep -qx 503"
  sql "ALTER SYSTEM RESET synchronous_standby_names"
  sql "SELECT pg_reload_conf()"
  ready_again() { [ "$(get -o /dev/null -w '%{http_code}' "$url/readyz")" = 200 ]; }
  check "postgres: ready again when commits no longer wait" wait_for 20 ready_again
  answers "postgres: the run can be sent again" '.runs == 1' -m 5 -d '{"n":5,"seconds":0.3}' -H "$json" "$url/v1/runs"
  answers "postgres: and is stored once" '.runs | length == 1' "$url/v1/runs?where=seconds%3D0.3"

  # PostgreSQL hangs while runs are only added.
  kill -STOP "$main" $(pgrep -P "$main")
  problem "postgres: a run is refused in time while it hangs" 503 'true' -m 8 -d "$one_run" -H "$json" "$url/v1/runs"
  check "postgres: readyz tells that it hangs" sh -c "curl -s -o /dev/null -w '%{http_code}' '$url/readyz' | grep -qx 503"
  kill -CONT "$main" $(pgrep -P "$main")
  check "postgres: ready again after it" wait_for 20 ready_again

  # If PostgreSQL hangs, only requests that need the store may fail, and only the first one may wait.
  start --record "$HM_STORE_SERVER" --workers 2
  answers "postgres: before it hangs" '.runs | length >= 0' "$url/v1/runs?limit=1"
  kill -STOP "$main" $(pgrep -P "$main")
  get -m 20 -o "$work/body" -w '%{http_code} %{time_total}' "$url/v1/runs?limit=1" >"$work/hung" &
  hung=$!
  plan='{"job":{"compute":"100 s / n","communicate":"1 s * n"}}'
  answers "postgres: a plan is answered while it hangs" '.best.n == 10' -m 5 -d "$plan" -H 'Content-Type: application/json' "$url/v1/plan"
  wait $hung
  check "postgres: the first request gets 503 after the limit" grep -q '^503 ' "$work/hung"
  get -m 2 -o "$work/body" -w '%{http_code}' "$url/v1/runs?limit=1" >"$work/hung"
  check "postgres: the next one gets 503 at once" grep -qx 503 "$work/hung"
  check "postgres: readyz says so" sh -c "curl -s -o /dev/null -w '%{http_code}' '$url/readyz' | grep -qx 503"
  kill -CONT "$main" $(pgrep -P "$main")
  check "postgres: ready again when it goes on" wait_for 20 ready_again
  answers "postgres: and runs are listed again" '.runs | length >= 0' "$url/v1/runs?limit=1"
  stop
  finish
fi
if [ "${HM_SQLITE:-1}" = 0 ]; then
  start --quiet
  problem "without SQLite there is no default store" 501 '.field == "store"' "$url/v1/runs"
  check "the log says that runs are not stored" grep -q "runs are not stored" "$work/log"
  expect "a named store that cannot be opened is reported" 2 "libsqlite3" howmany serve --listen 127.0.0.1:0 --record "$work/x.db"
  finish
fi

suite "$work/runs.db" sqlite
unset HOWMANY_DB
start --record none
problem "without a store, a list of runs gets 501" 501 '.field == "store" and (.hint | contains("let the server keep a store of runs"))' "$url/v1/runs"
wrong "without a store, adding runs gets 501" 501 '.field == "store"' /v1/runs '{"n":1,"seconds":1}'
problem "without a store, a recommendation gets 501" 501 'true' "$url/v1/recommend?batch=1"
start
answers "without --record the user's own store is used" '.runs == []' "$url/v1/runs"
check "the store is in the home folder" test -f "$HOME/.local/share/howmany/howmany.db"
expect "a store that cannot be opened is reported" 2 "nothere" howmany serve --listen 127.0.0.1:0 --record "$work/nothere/x.db"
expect "a file that is not a store is reported" 2 "runs.csv" howmany serve --listen 127.0.0.1:0 --record "$work/runs.csv"

# ---- symbolic links
mkdir "$work/links" "$work/real"
ln -s ../real/linked.db "$work/links/linked.db"
ln -s linked.db "$work/links/twice.db"
for there in "does not exist yet" "exists"; do
  start --record "$work/links/twice.db" --progress none
  answers "a link to a store that $there is served" '.runs | length >= 0' "$url/v1/runs"
  answers "a link to a store that $there: a run is added" '.added == 1' -d "{\"n\":${#there},\"seconds\":1}" -H 'Content-Type: application/json' "$url/v1/runs"
  stop
done
check "the runs are in the target of the link" test "$(howmany runs list --record "$work/real/linked.db" --json | jq '.runs | length')" = 2
ln -s ../real/progress "$work/links/progress"
start --record none --progress "$work/links/progress"
check "a link to the file of running commands is used" test -f "$work/real/progress"

# ---- a store that only another user may write
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  mkdir "$work/shut"
  howmany runs add n=1 seconds=1 --record "$work/shut/a.db" >/dev/null
  chmod 755 "$work" "$work/shut"
  chmod 644 "$work/shut/a.db"
  HOME=/nonexistent setpriv --reuid 65534 --regid 65534 --clear-groups "$HM_PROGRAM" serve --listen 127.0.0.1:0 --record "$work/shut/a.db" --progress none --quiet >"$work/reading" 2>"$work/log2" &
  reading=$!
  wait_for 30 test -s "$work/reading"
  for k in 1 2 3; do
    answers "a server that may only read, after $k runs" ".runs | length == $k" "$(cat "$work/reading")/v1/runs"
    howmany runs add n=1 seconds=$((k + 1)) --record "$work/shut/a.db" >/dev/null
  done
  check "it is still ready" test "$(get "$(cat "$work/reading")/readyz")" = ok
  kill -TERM $reading
  wait $reading
else
  skip "a server that may only read" "needs root and setpriv"
fi

# ---- tokens
howmany serve --make-token read >"$work/reader"
howmany serve --make-token write >"$work/writer"
{ tail -n 1 "$work/reader"; tail -n 1 "$work/writer"; } >"$work/tokens"
start --record "$work/runs.db" --token-file "$work/tokens" --quiet
reader="Authorization: Bearer $(head -n 1 "$work/reader")" writer="Authorization: Bearer $(head -n 1 "$work/writer")"
problem "a token with the scope read cannot write" 403 '.hint == "this path needs the scope write"' -d '{"n":1,"seconds":1}' -H 'Content-Type: application/json' -H "$reader" "$url/v1/runs"
problem "a token with the scope write cannot read" 403 '.hint == "this path needs the scope read"' -H "$writer" "$url/v1/runs"
answers "a token with the scope write can write" '.added == 1' -d '{"n":1,"seconds":1.25}' -H 'Content-Type: application/json' -H "$writer" "$url/v1/runs"
answers "a token with the scope read can read" '.runs[0].seconds == 1.25' -H "$reader" "$url/v1/runs"
problem "a request without a token gets 401" 401 'true' "$url/v1/runs"

# ---- group commit
start --record "$work/group.db" --quiet
seq 200 | xargs -P 16 -I{} curl -s -m 20 -o /dev/null -d '{"n":1,"seconds":{}}' -H 'Content-Type: application/json' "$url/v1/runs"
check "all runs are stored" test "$(get "$url/v1/runs?limit=1000" | jq '.runs | length')" = 200
get "$url/metrics" >"$work/metrics"
check "concurrent runs share transactions" awk '$1 == "howmany_store_commits_total" {c = $2} $1 == "howmany_store_runs_total" {r = $2} END {print c, r; exit !(r == 200 && c < 200)}' "$work/metrics"

# ---- a store that becomes unreachable
start --record "$work/gone.db"
answers "a run is stored" '.added == 1' -d '{"n":1,"seconds":1}' -H 'Content-Type: application/json' "$url/v1/runs"
mkdir "$work/aside" && mv "$work"/gone.db* "$work/aside/"
mkdir "$work/gone.db" # A folder cannot be opened as a store.
get -o /dev/null -d '{"n":1,"seconds":2}' -H 'Content-Type: application/json' "$url/v1/runs"
rmdir "$work/gone.db"
check "the server keeps running" test "$(get "$url/healthz")" = ok

# ---- a large file
howmany runs add n=1 seconds=1 --record "$work/large.db" >/dev/null
truncate -s 401000000 "$work/large.db"
start --record "$work/large.db"
check "the start tells that a large store is checked" grep -qF "howmany: checking the store $work/large.db of 0.4 GB" "$work/log"
stop
rm "$work/large.db"

# ---- a full disk
mkdir "$work/small"
if mount -t tmpfs -o size=4m tmpfs "$work/small" 2>/dev/null; then
  trap 'stop; umount "$work/small"; rm -rf "$work"' EXIT
  head -c 2500000 /dev/zero >"$work/small/ballast"
  start --record "$work/small/runs.db" --quiet
  { echo n,seconds,machine; awk 'BEGIN {for (i = 1; i <= 300; i++) print i % 64 + 1 ",1." i ",m" i}'; } >"$work/many.csv"
  kept=0 code=200
  for k in $(seq 60); do
    code=$(post "/v1/runs?key=k$k" text/csv "$work/many.csv" -o "$work/body" -w '%{http_code}')
    [ "$code" = 200 ] || break
    kept=$((kept + 300))
  done
  check "a full disk gets 507" test "$code" = 507
  check "and is named" jq -e '.detail | contains("the disk is full")' "$work/body"
  cat /dev/zero >"$work/small/rest" 2>/dev/null
  add_long() { # N: add a run of 3.9 kB; print the status
    jq -n "{n: $1, seconds: 1, note: (\"x\" * 3900)}" | post /v1/runs application/json - -o /dev/null -w '%{http_code}'
  }
  added=0 # The space of the failed transaction in the log can still be used.
  while [ $added -lt 500 ] && [ "$(add_long $((added + 1)))" = 200 ]; do added=$((added + 1)); done
  for k in 1 2 3; do
    full="$(post "/v1/runs?key=full" text/csv "$work/many.csv" -o /dev/null -w '%{http_code}') $(add_long $((1000 + k)))"
    full="$full $(get -o /dev/null -w '%{http_code}' "$url/v1/runs") $(get -o /dev/null -w '%{http_code}' "$url/readyz")"
    check "a full disk refuses a table and a run with 507, and can be read, $full" test "$full" = "507 507 200 200"
  done
  rm "$work/small/ballast" "$work/small/rest"
  again() { [ "$(post '/v1/runs?key=again' text/csv "$work/many.csv" -o /dev/null -w '%{http_code}')" = 200 ]; }
  check "runs are added again when there is room" wait_for 20 again
  stop
  check "what was acknowledged is there" test "$(howmany runs list --record "$work/small/runs.db" --limit 10000 --json | jq ".runs | length")" = $((kept + added + 300))
  expect "the store has no damage" 0 "no damage found" howmany runs check --record "$work/small/runs.db"
  umount "$work/small"
  trap 'stop; rm -rf "$work"' EXIT
else
  skip "a full disk" "needs the right to mount"
fi

# ---- a lock that another program holds
cat >"$work/lock.py" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
END
if python3 -c 'import sqlite3' 2>/dev/null; then
  start --record "$work/locked.db" --time-limit 10min
  mkfifo "$work/unlock"
  python3 "$work/lock.py" "$work/locked.db" <"$work/unlock" >"$work/lock" &
  locking=$!
  exec 4>"$work/unlock"
  check "another program locks the store" wait_for 20 test -s "$work/lock"
  get -d '{"n":1,"seconds":1}' -H 'Content-Type: application/json' -o "$work/body" -w '%{http_code}' "$url/v1/runs" >"$work/status" &
  asking=$!
  one_working() { get "$url/metrics" | grep -q '^howmany_http_working 1'; }
  wait_for 20 one_working
  answers "a locked store can be read" '.runs == []' "$url/v1/runs"
  stop
  wait $asking
  check "a request that waits for a lock is answered after SIGTERM" test "$(cat "$work/status") $(jq -r .field "$work/body")" = "503 lock"
  check "after SIGTERM during a lock the exit code is 0" test "$code" -eq 0
  exec 4>&-
  wait $locking
else
  skip "a lock that another program holds" "Python has no sqlite3"
fi

kill_servers "$work/killed.db" sqlite "${HM_KILLS:-20}"

# A file that is removed while it is served: a run that is acknowledged afterwards must be in the file of that name.
start --record "$work/moved.db"
answers "a run is added before the file is removed" '.added == 1' -d '{"n":1,"seconds":1}' -H 'Content-Type: application/json' "$url/v1/runs"
rm -f "$work"/moved.db*
answers "a run is added after the file was removed" '.added == 1' -d '{"n":2,"seconds":2}' -H 'Content-Type: application/json' "$url/v1/runs"
check "it is in the new file" test "$(howmany runs list --record "$work/moved.db" --json | jq -c '[.runs[].n]')" = '[2]'
lists_new() { [ "$(get "$url/v1/runs" | jq -c '[.runs[].n]')" = '[2]' ]; }
check "the server lists the runs of the new file" wait_for 20 lists_new
stop

# A folder that is replaced while its store is served: the server may write only in the old one (Landlock, if the kernel has it).
for there in "" "with a store"; do
  mkdir "$work/folder"
  start --record "$work/folder/runs.db" --progress none
  answers "a run is added before the folder is replaced" '.added == 1' -d '{"n":1,"seconds":1}' -H 'Content-Type: application/json' "$url/v1/runs"
  mv "$work/folder" "$work/folder.old"
  mkdir "$work/folder"
  [ -z "$there" ] || howmany runs add n=1 seconds=1 --record "$work/folder/runs.db" >/dev/null
  get -o "$work/body" -w '%{http_code}' -d '{"n":2,"seconds":2}' -H 'Content-Type: application/json' "$url/v1/runs" >"$work/status"
  if [ "$(cat "$work/status")" = 200 ]; then
    skip "a folder that is replaced" "the kernel has no Landlock"
  else
    check "a folder that is replaced ${there:-without a store} is named as the reason" jq -e '.status == 503 and (.detail | contains("forbids writing in its folder")) and (.hint | contains("restart the server"))' "$work/body"
  fi
  stop
  rm -rf "$work/folder" "$work/folder.old"
done

# A write-ahead log that is removed while it is used: no run that was acknowledged before or afterwards is lost when the server
# is killed. The first request that needs the log copies it into the file.
for removed in "-wal" "-wal -shm"; do
  name="log removed (${removed//-/})"
  start --record "$work/unlogged.db"
  answers "$name: a run is added before" '.added == 1' -d '{"n":1,"seconds":1}' -H 'Content-Type: application/json' "$url/v1/runs"
  for ending in $removed; do rm "$work/unlogged.db$ending"; done
  added_again() { [ "$(get -o /dev/null -w '%{http_code}' -d '{"n":2,"seconds":2}' -H 'Content-Type: application/json' -H 'Idempotency-Key: two' "$url/v1/runs")" = 200 ]; }
  check "$name: a run is added afterwards" wait_for 20 added_again
  kill -9 "$pid"
  wait "$pid" 2>/dev/null
  pid=
  check "$name: both are there after a kill" test "$(howmany runs list --record "$work/unlogged.db" --json | jq -c '[.runs[].n] | sort')" = '[1,2]'
  expect "$name: the store is sound" 0 "2 runs, no damage found" howmany runs check --record "$work/unlogged.db"
  rm -f "$work"/unlogged.db*
done

# A copy of a store while a server adds runs to it: all runs that were acknowledged before are in the copy.
start --record "$work/live.db"
add_one() { get -d "{\"n\":$1,\"seconds\":1}" -H 'Content-Type: application/json' "$url/v1/runs" >/dev/null; }
for n in $(seq 40); do add_one "$n"; done
(for n in $(seq 41 120); do add_one "$n"; done) &
adding=$!
copied() { howmany runs recover "$work/saved.db" --record "$work/live.db" >/dev/null; }
check "a store is copied while a server adds runs" copied
wait $adding
saved=$(howmany runs list --record "$work/saved.db" --limit 1000 --json | jq -c '[.runs[].n] | sort')
check "the copy has the runs that were there" jq -en "$saved | length >= 40 and .[0:40] == [range(1; 41)]"
check "the copy is sound" howmany runs check --record "$work/saved.db"
answers "the server has all runs" '[.runs[].n] | length == 120' "$url/v1/runs?limit=1000"
stop

# A byte of the write-ahead log changes after the server was killed: SQLite alone would take it for the end of the log.
start --record "$work/logged.db"
for n in $(seq 8); do add_one "$n"; done
kill -9 "$pid"
wait "$pid" 2>/dev/null
pid=
printf '\377' | dd of="$work/logged.db-wal" bs=1 seek=6000 conv=notrunc 2>/dev/null
expect "a damaged log is found" 2 "write-ahead log is damaged" howmany runs check --record "$work/logged.db"
expect "a store with a damaged log is not served" 2 "write-ahead log is damaged" timeout 60 howmany serve --listen 127.0.0.1:0 --record "$work/logged.db"
expect "its runs are copied" 0 "8 runs copied" howmany runs recover "$work/copied.db" --record "$work/logged.db"
expect "the copy of the runs is sound" 0 "8 runs, no damage found" howmany runs check --record "$work/copied.db"

# The thread that writes must not take the signal before the main thread waits for it.
mkfifo "$work/address"
ended=0
for _ in $(seq 20); do
  howmany serve --listen 127.0.0.1:0 --quiet --record "$work/ended.db" >"$work/address" 2>/dev/null &
  brief=$!
  read -r _ <"$work/address"
  kill -TERM $brief
  wait $brief && ended=$((ended + 1))
done
check "a signal just after the start ends the server with 0, $ended of 20 times" test $ended -eq 20
finish
