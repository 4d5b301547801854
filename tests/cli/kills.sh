#!/usr/bin/env bash
# Commands that start processes are killed with SIGKILL, or one of their processes is; no process or file may be left. `make
# torture` kills 1,000 commands of all kinds (tools/run-torture).
. "$(dirname "$0")/lib.sh"
kinds=bench,stubborn,steer
howmany train --simulate m5.4xlarge -i 1 -d digits:50 >/dev/null 2>&1 && [ "$HM_SANITIZE" = none ] && kinds=$kinds,simulated
check "after SIGKILL no process, temporary file or shared memory is left" python3 tests/kills.py "$HM_PROGRAM" 4 "$RANDOM" $kinds
finish
