#!/usr/bin/env bash
# Commands that start processes are killed with SIGKILL, or one of their processes is; no process or file may be left. `make
# torture` kills 1,000 commands of all kinds (tools/run-torture).
. "$(dirname "$0")/lib.sh"
kinds=bench,stubborn,steer
howmany train --simulate m5.4xlarge -i 1 -d digits:50 >/dev/null 2>&1 && [ "$HM_SANITIZE" = none ] && kinds=$kinds,simulated
check "after SIGKILL no process, temporary file or shared memory is left" python3 tests/kills.py "$HM_PROGRAM" 4 "$RANDOM" $kinds

# A single rank has no daemon of MPI, which would leave the session that the guard ends.
howmany train -d sparse:400x50:0.2 -n 1 --iterations 100000000 --json >"$work/out" 2>"$work/err" &
train=$!
wait_for 30 test -s "$work/out"
rank=$(pgrep -P $train -x howmany-train)
check "a single rank runs" test -n "$rank"
check "a single rank starts no other process" test -z "$(pgrep -P "${rank:-$train}")"
kill -9 $train
wait $train 2>/dev/null
finish
