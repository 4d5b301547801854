# Functions for shell tests that report in TAP. Source this file, call check or expect for each behaviour, and
# finish at the end.
set -u
cd "$HM_SOURCE" || exit 1
export PATH="$(dirname "$HM_PROGRAM"):$PATH" LC_ALL=C.UTF-8 COLUMNS=100 NO_COLOR=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work/home" XDG_DATA_HOME=
mkdir -p "$HOME"
# Open MPI starts in three quarters of the time when it does not look for InfiniBand and has no shared memory for keys.
export OMPI_MCA_pml=ob1 PMIX_MCA_gds=hash
# Waiting ranks give their core to other tests. By default two ranks on two cores wait in a loop that keeps both busy.
export OMPI_MCA_mpi_yield_when_idle=1
number=0 failures=0

# HM_CHECK_TIMES=FILE appends for each check the processor seconds that the script's commands took so far.
check_time() { # NAME
  times >"$work/times"
  echo "$(sed -n 2p "$work/times" | tr 'ms' '  ' | awk '{ printf "%.2f", 60 * $1 + $2 + 60 * $3 + $4 }') $(basename "$0") $1" >>"$HM_CHECK_TIMES"
}

say() { # CODE NAME: report one test, passed when the code is 0
  [ -z "${HM_CHECK_TIMES:-}" ] || check_time "$2"
  number=$((number + 1))
  if [ "$1" -eq 0 ]; then
    echo "ok $number - $2"
  else
    echo "not ok $number - $2"
    failures=$((failures + 1))
  fi
}

skip() { # NAME REASON: report one test as skipped
  number=$((number + 1))
  echo "ok $number - $1 # SKIP $2"
}

# With -e in its first option, jq must write something: jq 1.6 succeeds on an empty input, such as the output of a program that crashed.
jq() {
  case "$1" in
  -[a-z]*)
    [[ "$1" == *e* ]] || { command jq "$@"; return; }
    local written code
    written=$(command jq "$@")
    code=$?
    printf '%s\n' "$written"
    [ $code -ne 0 ] && return $code
    [ -n "$written" ]
    ;;
  *) command jq "$@" ;;
  esac
}

# With every=K, only one in K checks is made, from the first on.
every=1 asked=0
chosen() { [ "$every" -eq 1 ] || [ $((asked++ % every)) -eq 0 ]; }

# check NAME COMMAND…: passes when the command succeeds; its output is shown when it does not.
check() {
  chosen || return 0
  local name=$1
  shift
  "$@" >"$work/check.log" 2>&1
  local code=$?
  [ $code -eq 0 ] || sed 's/^/# /' "$work/check.log"
  say $code "$name"
}

# run COMMAND…: keeps standard output, standard error and the exit code in out, err, code.
run() {
  "$@" >"$work/out" 2>"$work/err"
  code=$?
  out=$(cat "$work/out") err=$(cat "$work/err")
}

# expect NAME CODE PATTERN COMMAND…: exit code, and a text (fixed) in standard output or error.
expect() {
  chosen || return 0
  local name=$1 wanted=$2 pattern=$3
  shift 3
  run "$@"
  if [ "$code" -eq "$wanted" ] && { [ -z "$pattern" ] || grep -qF -- "$pattern" "$work/out" "$work/err"; }; then
    say 0 "$name"
  else
    echo "# exit $code (wanted $wanted), looking for: $pattern"
    sed 's/^/# /' "$work/out" "$work/err" | head -n 20
    say 1 "$name"
  fi
}

# wait_for SECONDS COMMAND…: returns 0 as soon as the command succeeds, and 1 when it has not within that time.
# Tests wait for a condition with it; they never sleep for a fixed time.
wait_for() {
  local until=$((${EPOCHREALTIME/./} + $1 * 1000000))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "${EPOCHREALTIME/./}" -lt "$until" ] || return 1
    sleep 0.02
  done
}

# Checks that take long, and most cases of large tables of cases, are made only by `make torture` (HM_TORTURE=1).
in_torture() { [ "${HM_TORTURE:-0}" = 1 ]; }
torture() { ! in_torture || check "$@"; } # NAME COMMAND…

finish() {
  echo "1..$number"
  exit $((failures > 0))
}

# kill_rank PATTERN RANK: waits for this rank of the MPI run whose command line matches PATTERN, and kills it.
kill_rank() {
  wait_for 60 kill_rank_once "$1" "$2"
}
kill_rank_once() {
  local victim
  for victim in $(pgrep -f "howmany-train.*$1"); do
    grep -qz "^OMPI_COMM_WORLD_RANK=$2$" /proc/"$victim"/environ 2>/dev/null && kill -9 "$victim" && return 0
  done
  return 1
}
