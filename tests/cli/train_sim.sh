#!/usr/bin/env bash
# Tests training on simulated ranks, 1 to 256 (1024 with HM_TORTURE=1): the same bits as on real ranks, the same
# virtual times in every run, and times that agree with the closed forms of plan.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # Open MPI leaks memory
mpi=${HM_REDUCE:+1}
if [ -z "${HM_SMPIMAIN:-}" ]; then
  expect "built without SimGrid: a message" 2 "has no SimGrid" howmany train --simulate m5.4xlarge -i 1
  skip "simulated training" "built without SimGrid, or with sanitizers"
  finish
fi
study=$HM_SOURCE/examples/cluster-study.yaml
cd "$work" || exit 1
learnt() { jq -c 'select(.iteration) | [.iteration, .epoch, .objective, .gap, .change, .bytes, .flop]'; }
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }

as_real() { # N OPTIONS…
  local n=$1
  shift
  howmany train -n "$n" "$@" | learnt >real && howmany train -n "$n" "$@" --simulate "$study" | learnt >simulated &&
    test "$(wc -l <real)" -ge 3 && cmp real simulated
}
if [ "$mpi" ]; then
  if in_torture; then algorithms="gd lbfgs sgd momentum adam local-sgd splash cocoa cocoa+ mini-sdca"; else algorithms="lbfgs adam splash cocoa+"; fi
  for algorithm in $algorithms; do
    case $algorithm in sgd | momentum | adam | mini-sdca) batch="-b 30" ;; *) batch= ;; esac
    check "$algorithm: the bits of real ranks" as_real 3 -a $algorithm -d sparse:300x40 $batch -i 4 --look-every 1
  done
  for scheme in auto tree ring $(! in_torture || echo doubling two-wave master); do
    check "$scheme: the bits of real ranks" as_real 4 --scheme $scheme -d digits:200 -i 3
  done
  check "library: the bits of real ranks, when there are two" as_real 2 --scheme library -d digits:200 -i 3
  check "a perceptron: the bits of real ranks" as_real 2 -p perceptron --hidden 8 -d digits:200 -i 4 --look-every 1
  check "belief propagation: the bits of real ranks" as_real 3 -p bp -d grid:10x10 --tolerance 0 -i 5
fi

run howmany train -n 16 -i 3 --simulate "$study" -d digits:500
cp "$work/out" once
check "the header says that it is simulated" jq -se '.[0].simulated and (.[0].mpi | startswith("SimGrid"))' once
howmany train -n 16 -i 3 --simulate "$study" -d digits:500 >twice
check "times are the same in every run" cmp <(jq -c 'del(.time, .memory_bytes)' once) <(jq -c 'del(.time, .memory_bytes)' twice)
check "times of a resumed run are the same" bash -c "
  howmany train -n 4 -i 6 --simulate $study -d digits:100 | jq -c 'select(.iteration > 3) | del(.elapsed_s, .samples_per_s) | map_values(. * 1e9 | round)' >whole
  howmany train -n 4 -i 3 --simulate $study -d digits:100 --checkpoint c >/dev/null
  howmany train -n 4 -i 6 --simulate $study -d digits:100 --checkpoint c --resume | jq -c 'select(.iteration) | del(.elapsed_s, .samples_per_s) | map_values(. * 1e9 | round)' | cmp - whole"
for n in 1 5 64 $(in_torture && echo 1024 || echo 256); do
  check "$n ranks, more than rows or not" bash -c "howmany train -n $n -i 2 --simulate $study -d digits:50 | jq -e 'select(.summary) | .iterations == 2 and .objective < 1 and .memory_bytes > 0'"
done
bp_ranks=64 # 1024 ranks take half a minute of processor time
in_torture && bp_ranks=1024
check "belief propagation on more ranks than vertices" bash -c "howmany train -p bp -n $bp_ranks -d grid:6x6 --simulate $study | jq -e 'select(.summary).stopped_by == \"tolerance\"'"

# sgd with all rows in one batch: an iteration computes `flop` and sums 8 (features + 1) bytes once. plan
# gets the same job and must predict the same time within 5 %.
agrees() { # SCHEME TRANSFER-OF-PLAN N
  local seconds flop
  howmany train -p squares -a sgd -d dense:64x20000 -b 64 -i 2 --look-every 1 -n "$3" --scheme "$1" --simulate "$study" >trace || return 1
  read -r seconds flop < <(jq -r 'select(.iteration == 2) | "\(.seconds) \(.flop)"' trace)
  { echo "compute: $flop flop / flops / n"; echo "communicate: [{bytes: 160008 B, $2}]"; echo "cluster:"; grep -v '^#' "$study" | sed 's/^/  /'; } >job.yaml
  howmany plan job.yaml --json --max-n 64 | jq -e --argjson n "$3" --argjson is "$seconds" '
    .curve[] | select(.n == $n) | $is / .time_s | . > 0.95 and . < 1.05'
}
for n in 2 16 $(! in_torture || echo 4 8 32 64); do
  check "ring on $n hosts takes the time of plan" agrees ring "scheme: ring" $n
  check "doubling on $n hosts takes the time of plan" agrees doubling "scheme: recursive-doubling" $n
  check "one master of $n hosts takes the time of plan" agrees master "scheme: linear, times: 2" $n
done

expect "a machine of the catalog" 0 '"simulated":true' howmany train -n 4 -i 1 -d digits:50 --simulate m5.4xlarge
slower() { # a slower network takes longer
  local fast slow
  fast=$(howmany train -n 4 -i 1 -d digits:50 --simulate "$study" | jq 'select(.summary).elapsed_s')
  slow=$(howmany train -n 4 -i 1 -d digits:50 --simulate "$study" --set fabric.latency=10ms | jq 'select(.summary).elapsed_s')
  jq -en "$slow > 10 * $fast"
}
check "--set changes the cluster" slower
mkdir kept
check "SimGrid's files can be kept" bash -c "howmany train -n 4 -i 1 -d digits:50 --simulate $study --simgrid-files kept >/dev/null && grep -q '<platform' kept/platform.xml && test \$(wc -l <kept/hosts.txt) -eq 4"
mkdir passing
in_tmpdir() { # a folder that cannot be written to is named
  TMPDIR=$work/nowhere howmany train -n 2 -i 1 -d digits:50 --simulate "$study" 2>&1 | grep -q "temporary folder" &&
    TMPDIR=$work/passing howmany train -n 2 -i 1 -d digits:50 --simulate "$study" >/dev/null && is "$(ls passing)" ""
}
check "otherwise they are temporary files in TMPDIR" in_tmpdir
check "temporary files are removed at the end" bash -c "TMPDIR=$work/passing howmany train -n 2 -i 1 -d digits:50 --simulate $study >/dev/null; test -z \"\$(ls passing)\""
check "a simulation inside a rank of another job" bash -c "SLURM_PROCID=1 howmany train -n 2 -i 1 -d digits:50 --simulate $study | jq -se '.[-1].summary'"
printf 'flops: 1 Gflop/s\nefficiency: 1\n' >alone.yaml
expect "a cluster without a network" 2 "alone.yaml" howmany train -n 2 -i 1 --simulate ./alone.yaml
expect "one worker needs no network" 0 '"n":1' howmany train -n 1 -i 1 -d digits:50 --simulate ./alone.yaml
printf 'fabric: {bandwidth: 1 Gbit/s, latency: 1 ms}\n' >slow.yaml
expect "a cluster without a speed" 2 "flops" howmany train -n 2 -i 1 --simulate ./slow.yaml
printf 'flops: 1 Gflop/s\nbandwith: 3\n' >wrong.yaml
expect "a cluster with a wrong key" 2 "wrong.yaml:2" howmany train -n 2 -i 1 --simulate ./wrong.yaml
expect "no such cluster" 2 "" howmany train -n 2 -i 1 --simulate ./nowhere.yaml
expect "a key that the cluster does not have" 2 "wire" howmany train -n 2 -i 1 --simulate "$study" --set wire=1
expect "--dry-run without --simgrid-files" 2 "--simgrid-files" howmany train -n 2 -i 1 --simulate "$study" --dry-run
expect "--dry-run with --simgrid-files" 0 "smpimain" howmany train -n 2 -i 1 --simulate "$study" --dry-run --simgrid-files kept
expect "a launcher and a simulation" 2 "started by SimGrid" howmany train -n 2 -i 1 --simulate "$study" --launcher 'mpirun -n {n}'
expect "an invalid precision" 2 "not 64, 32 or 16" howmany train -n 2 -i 1 --simulate "$study" --precision 8
finish
