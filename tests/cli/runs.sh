#!/usr/bin/env bash
# Tests the store from the command line: list, show, add, import, export, delete; in a file and, if
# available, on a PostgreSQL server that the test starts.
. "$(dirname "$0")/lib.sh"

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  local name=$1 filter=$2
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}

cat >"$work/runs.csv" <<'END'
n,batch,latency (ms),seconds,machine,status,note
1,6400,0,96,m5.large,ok,first
2,6400,0,82,m5.large,ok,
2,6400,0,83,m5.large,ok,
4,64000,0,,m5.large,out of memory,"a ""quoted"", one"
4,6400,60,341,m5.xlarge,ok,last
END
for m in 1 2 4; do for i in 1 2 3; do echo "cocoa,$m,$i,0.0$m,0.$((9 - i))"; done; done |
  { echo algorithm,m,iteration,seconds,loss; cat; } >"$work/traces.csv"

suite() { # STORE NAME: everything that is the same for both
  local store=$1 kind=$2
  export HOWMANY_DB=$store
  expect "$kind: an empty store" 0 "no runs" howmany runs
  expect "$kind: a table is imported" 0 "5 runs, 5 new" howmany runs import "$work/runs.csv"
  expect "$kind: a second import adds nothing" 0 "5 runs, 0 new" howmany runs import "$work/runs.csv"
  printf 'n,seconds\n3,0.5\n5,0.25' >"$work/cut.csv"
  expect "$kind: a table that may be cut is noted" 0 "note: $work/cut.csv does not end in a newline" howmany runs import "$work/cut.csv" --record "$work/cut.db"
  expect "$kind: and standard input too" 0 '"standard input does not end in a newline' sh -c "howmany runs import - --json --record '$work/cut.db' <'$work/cut.csv'"
  printf 'algorithm,m,iteration,loss\ncocoa,1,1,0.5\ncocoa,1,2,0.25' >"$work/cut-traces.csv"
  expect "$kind: and a table of traces" 0 "cut-traces.csv does not end in a newline" howmany runs import "$work/cut-traces.csv" --record "$work/cut.db"
  expect "$kind: traces are imported" 0 "3 traces, 3 new" howmany runs import "$work/traces.csv"
  expect "$kind: a second import of traces adds nothing" 0 "3 traces, 0 new" howmany runs import "$work/traces.csv"
  json "$kind: all are listed, newest first" '.runs | length == 8 and .[0].id > .[7].id' howmany runs list --json
  json "$kind: units and other columns are kept" '[.runs[] | select(.note == "last")][0] | .latency == 0.06 and .n == 4 and .seconds == 341' \
    howmany runs list --json
  json "$kind: --after continues with the next page" '.[0].runs[-1].id > .[1].runs[0].id and (.[0].runs | length) == 3' sh -c "
    howmany runs list --limit 3 --json >$work/p1 && howmany runs list --limit 3 --after \"\$(jq -r .next $work/p1)\" --json | jq -s . $work/p1 -"
  json "$kind: a filter" '.runs | length == 2 and all(.n == 2)' howmany runs list --where n=2 --where machine=m5.large --json
  json "$kind: a filter with a unit" '.runs | length == 1 and .[0].latency == 0.06' howmany runs list --where 'latency>20ms' --json
  json "$kind: sorted" '[.runs[].seconds | select(. != null)] | . == sort' howmany runs list --where machine!=none --sort seconds --json
  expect "$kind: a list is a table" 0 "out of memory" howmany runs list
  expect "$kind: csv" 0 "made_at" howmany runs list --csv
  id=$(howmany runs list --where algorithm=cocoa --where n=4 --json | jq .runs[0].id)
  expect "$kind: show prints a run with its samples" 0 "elapsed_s" howmany runs show "$id"
  json "$kind: show --json prints the same" '.samples | length == 3 and .[2].loss == 0.6' howmany runs show "$id" --json
  expect "$kind: add adds a run" 0 "added" howmany runs add n=8 batch=64 'latency=5 ms' seconds=1.5 algorithm=sgd --key a-1
  expect "$kind: the same run is added once" 0 "has this run already" howmany runs add n=8 batch=64 'latency=5 ms' seconds=1.5 algorithm=sgd --key a-1
  json "$kind: a value keeps its unit" '.runs[0] | .latency == 0.005 and .key == "a-1"' howmany runs list --where key=a-1 --json
  jq -nc 'range(6) as $r | {n: ($r + 1), seconds: 1} + ([range(200) | {"k\($r)_\(.)": .}] | add)' >"$work/many.jsonl"
  check "$kind: runs with many other columns are exported by parts" sh -c "rm -f $work/many.db; howmany runs import $work/many.jsonl --record $work/many.db &&
    howmany runs export --where 'n<=5' --record $work/many.db | sed -n 1p | tr , '\n' | grep -c '^k[0-9]' | grep -x 1000"
  expect "$kind: a table has at most 1,000 other columns" 2 "more than 1000 different other columns" howmany runs export --record "$work/many.db"
  printf '{"run": 1, "algorithm": "sgd", "n": 2}\n{"iteration": 1, "loss": 9}\n{"iteration": 2, "loss": 80}\n{"summary": true, "stopped_by": "diverged"}\n' >"$work/diverged.jsonl"
  for form in jsonl csv; do
    json "$kind: a run that has diverged has done so in its export as $form" '.runs[0] | .status == "diverged" and .iterations == 2 and .loss == 80' sh -c "
      rm -f $work/diverged.db $work/again.db; howmany runs import $work/diverged.jsonl --record $work/diverged.db >&2 &&
      howmany runs export --traces -o $work/diverged-again.$form --record $work/diverged.db && howmany runs import $work/diverged-again.$form --record $work/again.db >&2 &&
      howmany runs list --json --record $work/again.db"
  done
  check "$kind: an export can be imported without changes" sh -c "howmany runs export $work/$kind.csv && howmany runs export $work/$kind.jsonl &&
    howmany runs export --traces -o $work/$kind-traces.jsonl && rm -f $work/other.db &&
    howmany runs import $work/$kind.csv --record $work/other.db && [ \$(howmany runs list --record $work/other.db --limit 100 --json | jq '.runs | length') = 9 ] &&
    howmany converge $work/$kind-traces.jsonl --best 0 | grep -q cocoa"
  expect "$kind: no documents yet" 0 "no documents" howmany runs documents
  check "$kind: a document is stored and printed" sh -c "howmany runs put job fig1 examples/fig1.yaml && howmany runs get job fig1 | cmp - examples/fig1.yaml"
  check "$kind: a document from a pipe replaces the earlier one" sh -c "echo one | howmany runs put prices p - && echo two | howmany runs put prices p - && [ \$(howmany runs get prices p) = two ]"
  json "$kind: documents are listed" 'map(.kind + "/" + .name) == ["job/fig1", "prices/p"]' howmany runs documents --json
  expect "$kind: documents of one kind are listed" 0 "fig1" howmany runs documents job
  expect "$kind: a stored job can be planned" 0 "an iteration" sh -c "howmany runs get job fig1 | howmany plan -"
  expect "$kind: a missing document is reported" 2 "there is no job 'fig2'" howmany runs get job fig2
  expect "$kind: put without a file is refused" 2 "a kind, a name and a file are needed" howmany runs put job fig1
  expect "$kind: a missing file is reported" 2 "nothere" howmany runs put job x nothere
  expect "$kind: a run is deleted" 0 "1 deleted" howmany runs delete "$id"
  expect "$kind: a deleted run is not listed" 2 "there is no run" howmany runs show "$id"
  expect "$kind: nothing to delete" 1 "0 deleted" howmany runs delete "$id"
  expect "$kind: delete removes all runs that match" 0 "2 deleted" howmany runs delete --where n=2 --where batch=6400 --yes
  expect "$kind: delete without an id or a filter is refused" 2 "no id is given" howmany runs delete
  expect "$kind: a column that is not there matches nothing" 0 "no runs" howmany runs list --where nothere=1
  expect "$kind: an invalid condition is refused" 2 "howmany: " howmany runs list --where n
  expect "$kind: an unknown column to sort by is refused" 2 "howmany: " howmany runs list --sort nothere
  expect "$kind: an invalid --after is refused" 2 "howmany: " howmany runs list --after nonsense
  expect "$kind: an invalid n is refused" 2 "howmany: " howmany runs add n=0 seconds=1
  expect "$kind: a seed that would be lost is refused" 2 "'9007199254740993' is too large, or has too many digits" howmany runs add n=1 seconds=1 seed=9007199254740993
  expect "$kind: a table in which one would be lost, with its line" 2 "seeds.csv:4: seed: run 3: '9007199254740993'" sh -c "printf 'n,seconds,seed\n1,1,1\n1,1,2\n1,1,9007199254740993\n' >$work/seeds.csv; howmany runs import $work/seeds.csv"
  expect "$kind: a text that looks like a number" 0 "added" howmany runs add n=1 seconds=1 job=42 version=1.10
  json "$kind: is stored as it is written" '.runs | length == 1 and .[0].version == "1.10"' howmany runs list --where job=42 --json
  expect "$kind: quotes in a value are not SQL" 0 "no runs" howmany runs list --where "machine=x' OR '1'='1"
}

if [ -n "${HM_STORE_SERVER:-}" ]; then # started by tests/postgres.sh
  suite "$HM_STORE_SERVER" postgres
  finish
fi
if [ "${HM_SQLITE:-1}" = 0 ]; then
  expect "without SQLite a file cannot be opened" 2 "libsqlite3" howmany runs --record "$work/x.db"
  finish
fi
suite "$work/runs.db" sqlite
unset HOWMANY_DB
expect "without a name the user's own store is used" 0 "no runs" howmany runs
check "the user's own store is in the home folder" test -f "$HOME/.local/share/howmany/howmany.db"
expect "a file that is not a store is refused" 2 "runs.csv" howmany runs --record "$work/runs.csv"
expect "a store in a missing folder is reported" 2 "nothere" howmany runs --record "$work/nothere/x.db"
# Commands that record runs and commands that read them. Open MPI does not free all its memory.
check "train records its trace" sh -c "ASAN_OPTIONS=detect_leaks=0 howmany train -d digits:500 -i 5 --record $work/all.db >/dev/null &&
  [ \$(howmany runs list --record $work/all.db --json | jq '.runs[0] | .problem + .algorithm') = '\"svmcocoa+\"' ]"
check "bench records every run" sh -c "howmany bench 'true {n}' --n 1,2 --repeat 2 --record $work/all.db >/dev/null 2>&1;
  [ \$(howmany runs list --record $work/all.db --where 'status=ok' --where 'n<3' --json | jq '.runs | length') -ge 5 ]"
expect "a store keeps what the seconds of a run include" 0 "with its start-up" sh -c "howmany bench 'true {n}' --n 1,2 --repeat 1 --record $work/start.db 2>/dev/null >/dev/null; howmany fit $work/start.db"
howmany runs import "$work/runs.csv" --record "$work/fit.db" >/dev/null
json "fit reads a store as it does a table" '.[0] == .[1]' sh -c "for f in $work/fit.db $work/runs.csv; do
  howmany fit \$f --where batch=6400 --terms 1,1/n --target 8 --json | jq -c '[.terms, .predictions]'; done | jq -s ."
json "recommend reads a store" '.candidates[0].n == 2' howmany recommend "$work/fit.db" --batch 6400 --latency 0ms --json
howmany runs import "$work/runs.csv" >/dev/null
json "recommend without a table reads the user's own store" '.candidates[0].n == 2' howmany recommend --batch 6400 --latency 0ms --json
if [ "$HM_ZLIB" = 1 ]; then
  check "advise reads a store as it does traces" sh -c "howmany runs import examples/mnist-traces.csv.gz --record $work/m.db >/dev/null &&
    howmany advise --record $work/m.db --loss 1e-4 >$work/a && howmany advise examples/mnist-traces.csv.gz --loss 1e-4 >$work/b && cmp $work/a $work/b"
fi

# ---- pipes, damage and bombs
printf 'n,seconds\n1,8\n2,5\n4,3\n' >"$work/piped.csv"
expect "a table from a pipe is imported" 0 "3 runs, 3 new" sh -c "cat '$work/piped.csv' | howmany runs import - --record '$work/piped.db'"
expect "a table from a named pipe is imported" 0 "3 runs, 3 new" bash -c "howmany runs import <(cat '$work/piped.csv') --record '$work/named.db'"
mkfifo "$work/named.pipe"
expect "a time limit ends the wait for the writer of a pipe" 2 "time limit of 0.3 s" timeout 60 howmany fit "$work/named.pipe" --time-limit 0.3s
expect "and for more of standard input" 2 "time limit of 0.3 s" timeout 60 bash -c "howmany fit - --time-limit 0.3s 3<>'$work/named.pipe' <&3"
check "a writer that comes late is read" bash -c "howmany fit '$work/named.pipe' --terms 1,1/n >'$work/late' & reader=\$!; cat '$work/piped.csv' >'$work/named.pipe' && wait \$reader && grep -q '3 runs' '$work/late'"
expect "a table of traces from a pipe is imported" 0 "traces" sh -c "zcat examples/mnist-traces.csv.gz | howmany runs import - --record '$work/piped.db'"
for command in check list "show 1" export "delete 1" documents "recover $work/new.db"; do
  expect "runs ${command%% *} of a store that does not exist" 2 "there is no such store" howmany runs $command --record "$work/missing.db"
done
expect "fit of a store that does not exist" 2 "there is no such store" howmany fit "$work/missing.db"
check "no store was made" test ! -e "$work/missing.db" -a ! -e "$work/new.db"
expect "a sound store has no damage" 0 "no damage found" howmany runs check --record "$work/piped.db"
howmany runs list --limit 2000 --json --record "$work/piped.db" >"$work/before"
howmany runs recover "$work/copy.db" --record "$work/piped.db" >/dev/null
check "all runs of a sound store can be recovered" test "$(jq '.runs | length' "$work/before")" = "$(howmany runs list --limit 2000 --json --record "$work/copy.db" | jq '.runs | length')"
ln "$work/piped.db" "$work/linked.db"
expect "a link to the store is no copy" 2 "this is the store that is copied" howmany runs recover "$work/linked.db" --record "$work/piped.db"
expect "nor is another spelling of its name" 2 "this is the store that is copied" howmany runs recover "$work/./piped.db" --record "$work/piped.db"
rm "$work/linked.db"
printf x >"$work/orphan.db-wal"
expect "no store is made next to the log of another file" 2 "is the log of another file" howmany runs add n=1 seconds=1 --record "$work/orphan.db"
check "which is left alone" test "$(cat "$work/orphan.db-wal")" = x
# ---- files of an export
before=$(md5sum <"$work/piped.db")
expect "an export does not replace the store" 2 "is a file of the store that is exported" howmany runs export "$work/piped.db" --csv --record "$work/piped.db"
ln -s piped.db "$work/linked.csv"
expect "nor through a link" 2 "is a file of the store that is exported" howmany runs export "$work/linked.csv" --record "$work/piped.db"
check "the store is unchanged" test "$(md5sum <"$work/piped.db")" = "$before"
echo precious >"$work/kept.csv"
chmod 600 "$work/kept.csv"
expect "an export with a wrong condition" 2 "howmany: " howmany runs export "$work/kept.csv" --where 'n<' --record "$work/piped.db"
expect "an export of a store that does not exist" 2 "there is no such store" howmany runs export "$work/kept.csv" --record "$work/missing.db"
expect "an export to a name without a known ending" 2 "must end in .csv or .jsonl" howmany runs export "$work/kept.txt" --record "$work/piped.db"
check "leave the file and nothing beside it" sh -c "grep -qx precious '$work/kept.csv' && test ! -e '$work/kept.txt' && ! ls -A '$work' | grep '^[.]howmany-'"
expect "an export replaces a file" 0 "" howmany runs export "$work/kept.csv" --record "$work/piped.db"
check "whose permissions stay" test "$(stat -c %a "$work/kept.csv")" = 600
check "an export to - goes to standard output" sh -c "howmany runs export - --record '$work/piped.db' | cmp - '$work/kept.csv'"
check "an export to a pipe goes to it" bash -c "howmany runs export >(cat >'$work/through.csv') --csv --record '$work/piped.db'; wait \$!; cmp '$work/through.csv' '$work/kept.csv'"
for name in :memory: file::memory: ""; do
  expect "a store with the name '$name' is refused" 2 "howmany: " howmany runs add n=1 seconds=1 --record "$name"
  expect "and not served" 2 "howmany: " timeout 60 howmany serve --listen 127.0.0.1:0 --record "$name"
done
expect "a store in memory is refused" 2 "a store in memory would lose its runs" howmany runs add n=1 seconds=1 --record :memory:
expect "an empty name is not the user's own store" 2 "the name of the store is empty" howmany runs add n=1 seconds=1 --record ""
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  mkdir "$work/shut"
  howmany runs import "$work/piped.csv" --record "$work/shut/a.db" >/dev/null
  chmod 755 "$work" "$work/shut"
  chmod 644 "$work/shut/a.db"
  check "a store without permission to write can be read" test "$(setpriv --reuid 65534 --regid 65534 --clear-groups "$HM_PROGRAM" runs list --json --record "$work/shut/a.db" | jq '.runs | length')" = 3
  as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$HM_PROGRAM" "$@"; }
  ln -s a.db "$work/shut/link.db"
  check "also through a link" test "$(as_nobody runs list --json --record "$work/shut/link.db" | jq '.runs | length')" = 3
  printf x >"$work/shut/a.db-wal"
  for name in a.db link.db; do
    expect "but not without the log of $name" 2 "its log must be written back first" as_nobody runs check --record "$work/shut/$name"
  done
  rm "$work/shut/a.db-wal"
  expect "a store without permission to write is not written" 2 "permission" setpriv --reuid 65534 --regid 65534 --clear-groups "$HM_PROGRAM" runs add n=1 seconds=2 --record "$work/shut/a.db"
else
  skip "a store without permission to write" "needs root and setpriv"
fi
# Overwrite a page in the middle of the table of samples.
size=$(stat -c %s "$work/piped.db")
head -c 4096 /dev/urandom | dd of="$work/piped.db" bs=4096 seek=$((size / 4096 / 2)) conv=notrunc 2>/dev/null
expect "damage is found" 2 "damaged" howmany runs check --record "$work/piped.db"
expect "what can be read of a damaged store is copied" 0 "runs copied" howmany runs recover "$work/rescued.db" --record "$work/piped.db"
expect "the copy is sound" 0 "no damage found" howmany runs check --record "$work/rescued.db"
expect "recover needs a store for the copy" 2 "no store for the copy" howmany runs recover --record "$work/piped.db"
expect "a damaged store is not served" 2 "damaged" timeout 60 howmany serve --listen 127.0.0.1:0 --record "$work/piped.db"
if [ "${HM_ZLIB:-1}" = 1 ]; then
  { echo n,seconds; yes 1,2 | head -c 60000000; } | gzip >"$work/bomb.csv.gz"
  expect "a file that is made to fill the memory is refused" 2 "more than 200 times" howmany fit "$work/bomb.csv.gz"
fi
expect "an unknown action is refused" 2 "is not list, show" howmany runs lst
# ---- names from other people
printf 'n,seconds,machine\n1,2,\033[2J\033]0;x\007\n' >"$work/escape.csv"
masked() {
  howmany runs import "$work/escape.csv" --record "$work/escape.db" >/dev/null && howmany runs list --record "$work/escape.db" >"$work/escape.txt" &&
    grep -F '?[2J?]0;x?' "$work/escape.txt" && ! grep -q "$(printf '\033')" "$work/escape.txt"
}
check "escape sequences in names do not reach the terminal" masked
printf 'n,seconds,machine\n1,2,a\302\233b\177c\303\251\n' >"$work/c1.csv"
check "nor do other control characters" sh -c "howmany runs import '$work/c1.csv' --record '$work/c1.db' >/dev/null && howmany runs list --record '$work/c1.db' | grep -F 'a?b?cé'"

finish
