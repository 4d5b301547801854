#!/usr/bin/env bash
# Tests failures of single system calls on files (EIO) and a disk that is full from some call on (ENOSPC), for the store, for
# recorded runs, checkpoints, pictures, jobs, calibrations, and the folders of `study` and `steer`. Whatever call fails, the command
# must end with an exit code of 0 to 2 and a message that says what happened, or still do its work; existing files must stay intact, and
# the command must succeed when it is repeated. Then allocations of a running server fail (tests/http/starve.c).
# `make test` tries one call in 17, `make torture` (HM_TORTURE=1) all of them; HM_FAULT_STEP=N tries one in N.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0
fault=${HM_FAULT_IO:-$HM_BUILD/tests/faults/fault_io}
mkdir "$work/try"
if [ "$HM_SANITIZE" != none ] || ! "$fault" 0 eio "$work/try" "$work/count" true 2>/dev/null; then
  skip "failing system calls" "with sanitizers, or the kernel does not let them be watched"
  finish
fi
in_torture && step=1 || step=17
step=${HM_FAULT_STEP:-$step}
total=0
# What a message must say. If SQLite cannot open or make a file, it opens it for
# reading and keeps no reason.
declare -A reason=([eio]='[Ii]nput/output error|for reading only|could not be made' [full]='disk is full|No space left')
reasons= # Not empty: what messages of a command say instead that also runs programs of the user.

# Each kind of work has a folder with the files that exist before (base), a command that runs in a copy of it, and a function that checks the copy
# after the command (CODE: its exit code).
fault_try() { # K MODE COMMAND…: runs the command in a fresh copy of the base
  rm -rf "$work/try" && cp -r "$work/base" "$work/try" && cd "$work/try" || exit 1
  timeout 60 "$fault" "$1" "$2" "$work/try" "$work/count" "${@:3}" >"$work/out" 2>"$work/err"
  code=$?
  calls=$(cat "$work/count")
}
wrong() { echo "call $k of $calls, $mode: exit $code: $1"; sed 's/^/    /' "$work/err"; }
faults() { # NAME VERIFY COMMAND…
  local name=$1 verify=$2 k mode last bad=0 tried=0
  shift 2
  for mode in eio full; do
    k=0
    fault_try 0 "$mode" "$@"
    last=$calls
    [ "$code" -eq 0 ] && [ "$last" -gt 0 ] || { wrong "it fails without a fault" >>"$work/log"; bad=1; }
    for ((k = 1 + (total + tried) % step; k <= last; k += step)); do
      fault_try "$k" "$mode" "$@"
      tried=$((tried + 1))
      { [ "$code" -le 2 ] || ! wrong "not an exit code of the program"; } &&
        { [ "$code" -eq 0 ] || grep -q '^howmany: ' "$work/err" || ! wrong "no message"; } &&
        { [ "$code" -eq 0 ] || grep -qE "${reasons:-${reason[$mode]}}" "$work/err" || ! wrong "the message does not say what happened"; } &&
        "$verify" || bad=1
      cd "$work" || exit 1
    done >>"$work/log"
  done
  total=$((total + tried))
  [ $bad -eq 0 ] || sed 's/^/# /' "$work/log"
  : >"$work/log"
  say $bad "$name: $tried failing calls"
}
base() { rm -rf "$work/base" && mkdir "$work/base" && cd "$work/base"; }

# ---- the store
if [ "$HM_SQLITE" = 1 ]; then
  base
  for n in 1 2 4; do howmany runs add n=$n seconds=$((8 / n)) --record runs.db >/dev/null; done
  stored() { howmany runs list --record runs.db --limit 1000 --json 2>/dev/null | jq -c "[.runs[] | .n] | sort"; }
  store_kept() {
    local have
    have=$(stored)
    { [ "$have" = "[1,2,4,7]" ] || { [ "$have" = "[1,2,4]" ] && [ "$code" -ne 0 ]; }; } || { wrong "the runs are $have"; return 1; }
    howmany runs check --record runs.db >"$work/err" 2>&1 || { wrong "runs check fails"; return 1; }
    [ "$code" -ne 0 ] || return 0
    howmany runs add n=7 seconds=1 --record runs.db >/dev/null 2>"$work/err" && [ "$(stored)" = "[1,2,4,7]" ] || { wrong "it cannot be repeated"; return 1; }
  }
  faults "a run is added" store_kept howmany runs add n=7 seconds=1 --record runs.db
  new_store() {
    [ "$code" -eq 0 ] || howmany runs add n=7 seconds=1 --record new.db >/dev/null 2>"$work/err" || { wrong "it cannot be repeated"; return 1; }
    [ "$(howmany runs list --record new.db --json | jq '.runs | length')" = 1 ] || { wrong "the run is missing"; return 1; }
  }
  faults "a store is made" new_store howmany runs add n=7 seconds=1 --record new.db

  # A store whose program was killed, so that its write-ahead log is read first.
  base
  howmany serve --listen 127.0.0.1:0 --quiet --record runs.db >"$work/url" 2>/dev/null &
  server=$!
  wait_for 30 test -s "$work/url"
  for n in 1 2 4; do curl -sS -m 30 -d "{\"n\":$n,\"seconds\":1}" -H 'Content-Type: application/json' "$(cat "$work/url")/v1/runs" >/dev/null; done
  kill -9 $server
  wait $server 2>/dev/null
  check "a killed server leaves a log" test -s runs.db-wal
  bad=0 mode=full
  for k in 1 2 3 4 5 6; do
    fault_try $k full howmany runs add n=7 seconds=1 --record runs.db
    store_kept || bad=1
    cd "$work" || exit 1
  done >"$work/log"
  [ $bad -eq 0 ] || sed 's/^/# /' "$work/log"
  : >"$work/log"
  say $bad "the log of a killed server is kept while the disk is full"
  all=$step
  [ $step -eq 1 ] || step=$((3 * step)) # There are many calls.
  faults "a run is added after a crash" store_kept howmany runs add n=7 seconds=1 --record runs.db

  # A store without checksums.
  base
  python3 -c 'import sqlite3; db = sqlite3.connect("runs.db"); db.execute("CREATE TABLE other (x)"); db.commit()'
  for n in 1 2 4; do howmany runs add n=$n seconds=$((8 / n)) --record runs.db >/dev/null; done
  sums_kept() {
    [ "$(stored)" = "[1,2,4]" ] || { wrong "the runs are $(stored)"; return 1; }
    howmany runs check --add-checksums --record runs.db >"$work/out" 2>"$work/err" || { wrong "it cannot be repeated"; return 1; }
    howmany runs check --record runs.db | grep -qx '3 runs, no damage found' || { wrong "the store has no checksums"; return 1; }
  }
  reasons="${reason[eio]}|${reason[full]}|unable to get the page" # The check reports a page that cannot be read.
  faults "a store gets checksums" sums_kept howmany runs check --add-checksums --record runs.db
  reasons=
  step=$all
fi

# ---- recorded runs
base
howmany bench 'true {n}' --n 1,2 --repeat 1 --record runs.csv >/dev/null 2>&1
rows() { grep -c '^[0-9]' runs.csv; }
record_kept() {
  cmp -s -n "$(stat -c %s "$work/base/runs.csv")" "$work/base/runs.csv" runs.csv || { wrong "earlier rows have changed"; return 1; }
  [ "$code" -ne 0 ] || [ "$(rows)" = 4 ] || { wrong "it has $(rows) rows"; return 1; }
  howmany bench 'true {n}' --n 16 --repeat 1 --record runs.csv >/dev/null 2>"$work/err" && howmany fit runs.csv >/dev/null 2>>"$work/err" ||
    { wrong "it cannot be continued or read"; return 1; }
}
faults "runs are recorded" record_kept howmany bench 'true {n}' --n 4,8 --repeat 1 --record runs.csv

# ---- checkpoints
train() { howmany train -n 1 -d digits:60 -i "$1" --checkpoint ck --every 2 "${@:2}"; }
base
train 4 >/dev/null 2>&1
learnt() { jq -sc 'map(select(.iteration)) | last | [.iteration, .objective]'; }
wanted=$(howmany train -n 1 -d digits:60 -i 10 --json | learnt)
checkpoint_kept() {
  train 10 --resume --json >"$work/out" 2>"$work/err" || { [ "$code" -eq 0 ] && grep -q "nothing is left" "$work/err"; } || { wrong "it cannot be continued"; return 1; }
  [ "$(learnt <"$work/out")" = "$wanted" ] || [ "$code" -eq 0 ] || { wrong "it ends elsewhere"; return 1; }
}
faults "a run continues from a checkpoint and writes others" checkpoint_kept howmany train -n 1 -d digits:60 -i 8 --checkpoint ck --every 2 --resume --json

# ---- answers, reports and other files
base
printf 'n,seconds\n1,8\n2,4.5\n4,2.75\n8,2\n' >runs.csv
echo old >plan.svg
picture_made() { [ "$code" -ne 0 ] || grep -q '</svg>' plan.svg || { wrong "the picture is incomplete"; return 1; }; } # gnuplot writes it itself
reasons='is there space on the disk|[Ii]nput/output error|No space left|gnuplot' # Of errors of gnuplot only that is known.
command -v gnuplot >/dev/null && faults "a picture is made" picture_made howmany fit runs.csv --plot plan.svg
reasons=
machine_kept() { [ "$code" -ne 0 ] || [ -s job.yaml ] || { wrong "job.yaml is empty"; return 1; }; }
faults "a job is written" machine_kept howmany init -o job.yaml

# ---- calibrations
base
howmany calibrate --replay "$HM_SOURCE/examples/h200-timings.json" -o machine.yaml >/dev/null 2>&1
howmany calibrate --cpu --quick --plain -o cpu.yaml --record cpu.json >/dev/null 2>&1
calibration_kept() {
  for file in machine.yaml cpu.yaml cpu.json; do [ -s $file ] || { wrong "$file is gone"; return 1; }; done
  howmany plan "$HM_SOURCE/examples/resnet50.yaml" --on machine.yaml --n 1 >/dev/null 2>"$work/err" && howmany calibrate --replay cpu.json >/dev/null 2>>"$work/err" ||
    { wrong "a description or a recording cannot be read"; return 1; }
}
faults "a recorded calibration is written" calibration_kept howmany calibrate --replay "$HM_SOURCE/examples/h200-timings.json" -o machine.yaml
faults "a calibration is recorded" calibration_kept howmany calibrate --cpu --quick --plain -o cpu.yaml --record cpu.json

# ---- SIGTERM at each call on files
base
echo old >out.yaml
if [ "$HM_SQLITE" = 1 ]; then
  for n in 1 2 4; do howmany runs add n=$n seconds=1 --record runs.db >/dev/null; done
  howmany runs export old.csv --record runs.db
fi
ended() { # COMMAND…: SIGTERM ends it at each call; its files are old or new, and there are no others
  local k last
  fault_try 0 term "$@" && last=$calls && [ "$code" -eq 0 ] && ls -A >"$work/files" || return 1
  local new
  new=$(md5sum <out.yaml)
  for ((k = 1; k <= last; k++)); do
    fault_try $k term "$@"
    { [ $code -eq 143 ] || [ $code -eq 0 ]; } && ! ls -A | grep -vxFf "$work/files" | grep -v '^runs[.]db-' && [ -s out.yaml ] || return 1
    grep -qx old out.yaml || [ "$(md5sum <out.yaml)" = "$new" ] || return 1
  done
  [ "$last" -gt 0 ]
}
check "after SIGTERM an import leaves the old file or the new one" ended howmany import "$HM_SOURCE/examples/config-llama-3-8b.json" -o out.yaml
[ "$HM_SQLITE" = 0 ] || check "and so does an export" ended howmany runs export out.yaml --csv --record runs.db
killed() { # SIGKILL ends an import at each call; only between the last two calls, when the new file has a name, a file can be left
  local k last left=0
  fault_try 0 kill howmany import "$HM_SOURCE/examples/config-llama-3-8b.json" -o out.yaml && last=$calls || return 1
  for ((k = 1; k <= last; k++)); do
    fault_try $k kill howmany import "$HM_SOURCE/examples/config-llama-3-8b.json" -o out.yaml
    [ $code -ge 128 ] || { [ $k = $last ] && [ $code = 0 ]; } || return 1
    left=$((left + $(ls -A | grep -c '^[.]howmany-')))
  done
  [ "$last" -gt 2 ] && [ $left -le 1 ]
}
case $(stat -f -c %T "$work") in
  ext2/ext3 | xfs | btrfs | tmpfs) check "after SIGKILL an import leaves no other file" killed ;;
  *) skip "after SIGKILL an import leaves no other file" "this file system may not have files without a name" ;;
esac
cd "$work" || exit 1

# ---- studies and steered training
base
printf '%s\n' 'train: {data: digits:60, lambda: 1e-2}' 'algorithms: [lbfgs]' 'm: [1]' 'loss: 1e-1' 'budget: 200 ms' >s.yaml
study_kept() {
  [ "$code" -eq 0 ] || howmany study s.yaml >/dev/null 2>"$work/err" || { wrong "it cannot be continued"; return 1; }
  grep -q '</html>' s.study/report.html || { wrong "the report is incomplete"; return 1; }
}
faults "a study is made" study_kept howmany study s.yaml
base
cat >toy.sh <<'END'
#!/usr/bin/env bash
state=$1 i=0 loss=1000000
[ "${2:-}" != --resume ] || read -r i loss <"$state"
for ((k = 0; k < 400; k++)); do
  sleep 0.01
  i=$((i + 1)) loss=$((loss * 60 / 100))
  echo "$i $loss" >"$state.new" && mv "$state.new" "$state" || exit 1
  printf '{"iteration":%d,"loss":0.%06d}\n' "$i" "$loss"
done
END
chmod +x toy.sh
toy() { howmany steer --command './toy.sh {checkpoint} {resume} {n}' --m 1 --reach 0.001 --folder st; }
steer_kept() {
  [ "$code" -eq 0 ] || toy >/dev/null 2>"$work/err" || { wrong "it cannot be continued"; return 1; }
  grep -q '</html>' st/report.html || { wrong "the report is incomplete"; return 1; }
}
reasons='[Ii]nput/output error|disk is full|No space left|failed|does not start' # The program's files are in the folder too.
faults "a training is steered" steer_kept howmany steer --command './toy.sh {checkpoint} {resume} {n}' --m 1 --reach 0.001 --folder st

# ---- allocations of a server
if [ "$HM_SQLITE" = 1 ]; then
  mkdir "$work/starve"
  in_torture && trials=${HM_STARVE:-100000} || trials=600
  "$HM_BUILD/tests/http/starve" "$HM_PROGRAM" "$HM_BUILD"/tests/faults/libfail_alloc.so "$work/starve" $trials >"$work/log" 2>"$work/err"
  code=$?
  sed -n 's/^# */# /p' "$work/log"
  say $code "allocations of a running server fail"
fi

check "the number of failing calls is counted" test "$total" -gt 0
echo "# $total failing calls"
finish
