#!/usr/bin/env bash
# Tests platforms of training: parameter servers, a driver and all-reduce, real and simulated; stragglers,
# backup workers, staleness; times against closed forms; failures of ranks; invalid combinations.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # Open MPI leaks memory
unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM # howmany sets them
mpi=${HM_REDUCE:+1} sim=${HM_SMPIMAIN:+1}
study=$HM_SOURCE/examples/cluster-study.yaml
cd "$work" || exit 1
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }
learnt() { jq -c 'select(.iteration) | [.iteration, .epoch, .objective]'; }
server="--platform server"

# ---- invalid combinations --------------------------------------------------------------------
four="howmany train -n 4 -p logistic -d digits:100"
expect "an unknown platform" 2 "--platform: there is no 'serve'; there are allreduce driver server" $four --platform serve
expect "no servers" 2 "--servers: '0' is not a whole number from 1" $four $server --servers 0
expect "servers without the platform" 2 "--servers: applies only to --platform server" $four --servers 2
expect "consistency without servers" 2 "--consistency: applies only to --platform server" $four --consistency ssp
expect "colocated without servers" 2 "--colocated: applies only to --platform server" $four --colocated
expect "staleness below 0" 2 "--staleness: '-1' is not a whole number from 0 on" $four $server --consistency ssp --staleness -1
expect "half a clock" 2 "--staleness: '1.5' is not a whole number" $four $server --consistency ssp --staleness 1.5
expect "staleness of bsp" 2 "--staleness: applies only to --consistency ssp" $four $server --staleness 2
expect "as many backups as workers" 2 "--backups: 4 of 4 workers leave none for a step; use at most 3" $four $server --backups 4
expect "backups of async" 2 "--backups: applies only to --platform server with --consistency bsp" $four $server --consistency async --backups 1
expect "backups without servers" 2 "--backups: applies only to --platform server" $four --backups 1
expect "late pulls with a staleness of 0" 2 "--pull: applies only to --consistency ssp with a --staleness above 0" $four $server --consistency ssp --staleness 0 --pull late
expect "an unknown consistency" 2 "there are bsp ssp async" $four $server --consistency eventual
expect "an algorithm without mini-batches" 2 "cocoa does not run on parameter servers; use sgd, momentum or adam" $four $server -a cocoa
expect "an algorithm with mini-batches" 2 "sgd does not run with a driver; use gd or lbfgs" $four --platform driver -a sgd
expect "a scheme without all-reduce" 2 "--scheme: applies only to --platform allreduce" $four $server --scheme ring
expect "belief propagation on servers" 2 "runs only with --platform allreduce" howmany train -p bp $server -n 2
expect "shares for another number of workers" 2 "--shares: 2 values for 4 workers" $four --shares 1,2
expect "a share of nothing" 2 "--shares: '0' is not more than 0" $four --shares 1,1,0,1
expect "shares that are no numbers" 2 "--shares" $four --shares 1,a,2,3
expect "shares by speed without a simulated cluster" 2 "--shares: speed needs --simulate" $four --shares speed
expect "shares of belief propagation" 2 "--shares: applies only to problems with rows" howmany train -p bp -n 2 --shares 1,2

expect "more servers than parameters" 2 "--servers: 5 are too many for a model of 3 parameters" howmany train -n 2 -p squares -d dense:50x3 $server --servers 5
expect "than parameters of softmax" 2 "--servers: 7841 are too many for a model of 7840 parameters" $four -p softmax $server --servers 7841
expect "than parameters of a perceptron" 2 "--servers: 3196 are too many for a model of 3195 parameters" $four -p perceptron --hidden 4,3 $server --servers 3196
expect "an internal option by hand" 2 "--slowness: not a value that howmany train writes" howmany-train --slowness 3 -d dense:50x3

# ---- real ranks ------------------------------------------------------------------------------
ranks_left() { pgrep -f "howmany-train.*$1"; }
if [ "$mpi" ]; then
  rows="-p logistic -d sparse:400x50 -b 40 -i 12 --look-every 3"
  as_allreduce() { # N SERVERS: the same as the scheme that adds in the order of the ranks
    howmany train -n $1 $rows -a sgd --scheme master | learnt >one &&
      howmany train -n $1 $rows $server --servers $2 | learnt >other && test -s one && cmp one other
  }
  check "servers give the results of all-reduce, bit for bit" as_allreduce 3 2
  as_driver() {
    howmany train -n 3 -p logistic -d sparse:400x50 -i 5 -a lbfgs --scheme two-wave | learnt >one &&
      howmany train -n 3 -p logistic -d sparse:400x50 -i 5 --platform driver | learnt >other && test -s one && cmp one other
  }
  check "a driver gives the results of all-reduce, bit for bit" as_driver
  bounded() {
    howmany train -n 3 $rows $server --consistency ssp --staleness 2 ${1:-} | jq -se '.[-1] | .lead <= 2 and (.reads_by_staleness | length) <= 3 and .gradients == 36 and .dropped == 0'
  }
  check "no worker exceeds the staleness bound" bounded
  check "no worker exceeds the staleness bound with late pulls" bounded "--pull late"
  check "asynchronous workers learn" bash -c "howmany train -n 3 $rows $server --consistency async --servers 2 | jq -se '.[-1].gradients == 36 and .[-1].objective < .[1].objective'"
  check "steps do not wait for backup workers" bash -c "howmany train -n 3 $rows $server --backups 1 | jq -se '.[-1] | .gradients == 24 and .dropped <= 12 and .lead == 0'"
  by_hand() {
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 howmany-train $server --servers 2 -d dense:50x3 2>&1 | grep -q "2 ranks are too few: 2 are servers or the driver"
  }
  check "by hand, with too few ranks" by_hand
  dies() { # RANK NAME PLATFORM…: the run ends, names the rank, and leaves no rank running
    local rank=$1 name=$2 pid code
    shift 2
    rm -f died.out # the iterations of an earlier run are not those of this one
    timeout 120 howmany train -p logistic -d sparse:3000x100:0.2 --seed 177 -n 2 -i 100000000 --look-every 1000 "$@" >died.out 2>died.err &
    pid=$!
    wait_for 60 grep -q '"iteration"' died.out
    kill_rank seed=177 "$rank" || echo "rank $rank is not there"
    wait $pid
    code=$?
    cat died.err
    test $code -eq 1 && grep -q "$name has died" died.err && ! ranks_left seed=177
  }
  check "a killed server ends the run" dies 2 "rank 2, a server," $server
  check "a killed worker ends the run" dies 1 "rank 1" $server --consistency async
  check "a killed driver ends the run" dies 2 "rank 2, the driver," --platform driver -a gd -p svm
  comes_back() { # killed once, it ends with the same result
    rm -f back.ck
    howmany train -p logistic -d sparse:3000x100:0.2 --seed 178 -n 2 -i 3000 --look-every 3000 $server --json | learnt >whole
    howmany train -p logistic -d sparse:3000x100:0.2 --seed 178 -n 2 -i 3000 --look-every 3000 $server --checkpoint back.ck --every 50 --restarts 2 --json >back.out 2>back.err &
    local pid=$!
    wait_for 60 test -s back.ck
    kill_rank seed=178 2 || echo "rank 2 is not there"
    wait $pid && grep -qx '{"restart":1,"rank":2}' back.out && learnt <back.out | tail -n 1 | cmp - whole
  }
  torture "with --restarts it resumes from the checkpoint" comes_back
else
  skip "real servers and drivers" "built without MPI"
  expect "built without MPI: a message" 2 "has no MPI" howmany train -n 1 $server -i 1
fi
if [ -z "$sim" ]; then
  skip "simulated platforms" "built without SimGrid, or with sanitizers"
  finish
fi

# ---- the same bits ---------------------------------------------------------------------------
small="howmany train -n 5 -p softmax -d digits:300 --scale divide:255 -b 50 -i 12 --look-every 4 --simulate $study"
same() { # OPTIONS OPTIONS: two runs have the same objectives
  $small $1 | learnt >one && $small $2 | learnt >other && test -s one && cmp one other
}
check "ssp 0 is bsp, bit for bit" same "$server --servers 2" "$server --servers 2 --consistency ssp --staleness 0"
check "0 backups is bsp, bit for bit" same "$server" "$server --backups 0"
check "the number of servers does not matter" same "$server" "$server --servers 7"
check "the placement of the servers does not matter" same "$server --servers 3" "$server --servers 3 --colocated"
check "bsp is all-reduce in the order of the ranks" same "$server" "-a sgd --scheme master"
check "bsp is all-reduce with momentum" same "$server -a momentum" "-a momentum --scheme master"
check "bsp is all-reduce with Adam" same "$server -a adam" "-a adam --scheme master"
[ "$mpi" ] && check "real and simulated servers are the same" bash -c "
  howmany train -n 3 -p perceptron --hidden 8 -d digits:200 -i 6 --look-every 2 $server --servers 2 | jq -c 'select(.iteration) | [.iteration, .objective, .bytes, .flop]' >one
  howmany train -n 3 -p perceptron --hidden 8 -d digits:200 -i 6 --look-every 2 $server --servers 2 --simulate $study | jq -c 'select(.iteration) | [.iteration, .objective, .bytes, .flop]' | cmp - one"
printf 'flops: 1 Gflop/s\nefficiency: 1\nnetwork: {bandwidth: 1 Gbit/s, latency: 100 us}\nstragglers: {spread: 0.5, chance: 10 %%, factor: 5, pause: 2 ms}\n' >restless.yaml
for way in "--consistency ssp" "--consistency ssp --pull late" "--consistency async" "--backups 2"; do
  twice() {
    for i in one other; do $small --simulate restless.yaml $server --servers 2 $1 | jq -c 'del(.time, .memory_bytes)' >$i; done
    test -s one && cmp one other
  }
  check "$way: the same in every run" twice "$way"
  resumes() {
    rm -f go.ck all.ck
    $small --simulate restless.yaml $server --servers 2 $1 --checkpoint all.ck --every 4 | learnt | tail -n 1 >whole
    $small --simulate restless.yaml $server --servers 2 $1 --checkpoint go.ck --every 4 -i 8 >/dev/null &&
      $small --simulate restless.yaml $server --servers 2 $1 --checkpoint go.ck --every 4 --resume | learnt | tail -n 1 | cmp - whole && test -s whole
  }
  check "$way: resumes bit for bit" resumes "$way"
done
other_platform() { # a checkpoint of servers, resumed with all-reduce
  rm -f x.ck
  $small $server --checkpoint x.ck -i 8 >/dev/null && $small -a sgd --scheme master --checkpoint x.ck --resume | learnt | tail -n 1 >other &&
    $small $server | learnt | tail -n 1 | cmp - other
}
check "a checkpoint can be resumed on another platform" other_platform
falls() { howmany train -n 4 --simulate "$study" "$@" | jq -se '[.[] | select(.iteration) | .objective] | length > 1 and .[-1] < .[0]'; }
for way in "--consistency bsp" "--consistency ssp" "--consistency async" "--backups 1"; do
  for problem in svm logistic squares; do
    check "$problem on servers, $way" falls -p $problem -d sparse:400x50 -b 40 -i 60 $server $way
  done
  check "a perceptron on servers, $way" falls -p perceptron --hidden 16 -d digits:300 --scale divide:255 -i 30 $server --servers 2 $way
done
check "a driver learns" falls -p softmax -d digits:300 --scale divide:255 -i 10 --platform driver

# ---- stragglers ------------------------------------------------------------------------------
cheap='flops: 10 Mflop/s\nefficiency: 1\nnetwork: {bandwidth: 100 Gbit/s, latency: 1 us}\n'
printf "$cheap"'stragglers: {chance: 5 %%, factor: 4}\n' >now-and-then.yaml
printf "$cheap"'stragglers: {slow: 1, slow_factor: 4}\n' >for-good.yaml
printf "$cheap"'stragglers: {speeds: [1, 0.5, 0.25]}\n' >uneven.yaml
speed() { # CLUSTER OPTIONS…: rows per second of gradients that were used
  local cluster=$1 known
  known="speed-$(echo "$*" | tr -c 'a-z0-9\n' -)" # several checks need the same run
  shift
  [ -s "$known" ] || howmany train -n 8 -p logistic -d dense:800x20 -b 800 -i 1000 --look-every 1000 --simulate $cluster.yaml "$@" | jq 'select(.iteration).samples_per_s' >"$known"
  cat "$known"
}
gain() { # CLUSTER LEAST MOST OPTIONS…: speedup over bsp
  local cluster=$1 least=$2 most=$3 bsp
  shift 3
  bsp=$(speed $cluster $server) && jq -en "$(speed $cluster $server "$@") / $bsp | ., (. >= $least and . <= $most)"
}
torture "1 of 20 iterations slow: ssp 3 is 1.4 times as fast as bsp" gain now-and-then 1.4 1.75 --consistency ssp --staleness 3
torture "one backup is faster too; 1.50 times if steps were independent" gain now-and-then 1.4 1.51 --backups 1
check "async is 1.75 times as fast: the mean instead of the maximum" gain now-and-then 1.7 1.76 --consistency async
check "one worker always slow: one backup is 3 times as fast" gain for-good 3 3.51 --backups 1
check "ssp is as slow as bsp" gain for-good 0.99 1.02 --consistency ssp --staleness 3
# The same with plan: one second of computation on each worker, and little communication.
planned() { # CLUSTER OPTIONS…: speedup of eight workers
  printf 'compute: 1 s\ncommunicate: [{bytes: 1 kB, scheme: ring}]\nscaling: weak\nbatch: 100\ncluster:\n' >job.yaml
  sed 's/^/  /' $1.yaml >>job.yaml
  howmany plan job.yaml --platform server --servers 1 --max-n 8 --json "${@:2}" | jq '.curve[] | select(.n == 8).speedup'
}
predicted() { # CLUSTER OPTIONS…: plan's gain over bsp is within 15 % of the simulated one
  local cluster=$1 planned simulated
  shift
  planned=$(jq -n "$(planned $cluster "$@") / $(planned $cluster)") && simulated=$(jq -n "$(speed $cluster $server "$@") / $(speed $cluster $server)") &&
    jq -en "$planned / $simulated | ., (. > 0.85 and . < 1.15)"
}
for way in "--consistency ssp --staleness 3" "--consistency async" "--backups 1"; do
  check "plan predicts it within 15 %, sometimes slow, $way" predicted now-and-then $way
  [ "$way" = "--consistency async" ] || check "always slow, $way" predicted for-good $way
done
check "bsp takes the time of the slowest of eight" bash -c "howmany train -n 8 -p logistic -d dense:800x20 -b 800 -i 1000 --look-every 1000 --simulate now-and-then.yaml $server | jq -se '.[-1].elapsed_s' >a
  sed /stragglers/d now-and-then.yaml >steady.yaml; howmany train -n 8 -p logistic -d dense:800x20 -b 800 -i 1000 --look-every 1000 --simulate steady.yaml $server | jq -se '.[-1].elapsed_s' >b
  jq -en \"\$(cat a) / \$(cat b) | . > 1.9 and . < 2.1\"" # 0.95^8 + 4 (1 - 0.95^8) = 2.01
for platform in "-a sgd" "--platform driver"; do
  slowed() { # every platform waits for a slow worker
    local one other
    one=$(howmany train -n 4 -p logistic -d dense:800x20 -i 4 --simulate steady.yaml $1 | jq 'select(.summary).elapsed_s')
    other=$(howmany train -n 4 -p logistic -d dense:800x20 -i 4 --simulate for-good.yaml $1 | jq 'select(.summary).elapsed_s')
    jq -en "$other / $one | ., (. > 3.5 and . <= 4)"
  }
  check "$platform: waits for a slow worker" slowed "$platform"
done
evened() { # shares by speed: 800 rows over speeds 1, 1/2, 1/4 and 1
  local one other
  one=$(howmany train -n 4 -p logistic -d dense:800x20 -b 800 -i 4 --simulate uneven.yaml $server | jq 'select(.summary).compute_s')
  other=$(howmany train -n 4 -p logistic -d dense:800x20 -b 800 -i 4 --simulate uneven.yaml $server --shares speed | jq 'select(.summary).compute_s')
  jq -en "$one / $other | ., (. > 2.7 and . < 2.8)" # 4 / 4 against 4 / 2.75
}
check "shares by speed balance uneven machines" evened
check "shares by a list give the same" bash -c "
  for shares in speed 4,2,1,4; do howmany train -n 4 -p logistic -d dense:880x20 -b 880 -i 4 --simulate uneven.yaml $server --shares \$shares | jq -c 'select(.iteration) | [.iteration, .objective, .seconds]'; done | sort | uniq -c | awk '\$1 != 2 {bad = 1} END {exit bad}'"
uneven_files() { # rows of a file are distributed by shares, without loss
  for i in $(seq 60); do echo "$((i % 2)) 1:$i 2:$((i * i % 17))"; done >rows.svm
  howmany train -n 3 -a gd -p squares -d rows.svm -i 3 --simulate "$study" | jq 'select(.summary).objective * 1e9 | round' >one
  howmany train -n 3 -a gd -p squares -d rows.svm -i 3 --simulate "$study" --shares 7,1,2 | jq 'select(.summary).objective * 1e9 | round' | cmp - one
}
check "shares of a file" uneven_files

# ---- times -----------------------------------------------------------------------------------
# A step with servers takes 2 (a + max(M b, n M b / s)) besides the computation.
saturates() { # N SERVERS
  howmany train -n $1 -p squares -a sgd -d dense:64x20000 -b 64 -i 2 --look-every 1 $server --servers $2 --simulate "$study" |
    jq -se '.[2] | .seconds / (.compute_s + 2 * (1e-4 + ([1, '$1' / '$2'] | max) * 160000 * 8e-9)) | ., (. > 0.9 and . < 1.1)'
}
for n in 1 4 16 $(! in_torture || echo 2 8 32 64); do check "one server and $n workers take the time of the model" saturates $n 1; done
for n in 4 16 $(! in_torture || echo 64); do check "four servers and $n workers take the time of the model" saturates $n 4; done
torture "sixteen servers take the time of the model" saturates 64 16
# A driver: ceil(log2(n + 1)) + g - 1 + ceil(n / g) messages, g = ceil(sqrt n), two gradients in the first iteration.
drives() { # N MESSAGES
  howmany train -n $1 -p squares -a lbfgs -d dense:64x20000 -i 1 --platform driver --simulate "$study" |
    jq -se '.[1] | .seconds / (.compute_s + .epoch * '$2' * (1e-4 + 160000 * 8e-9)) | ., (. > 0.95 and . < 1.05)'
}
check "a driver and one worker take the time of the model" drives 1 2
check "a driver and 4 workers take the time of the model" drives 4 6
check "a driver and 16 workers take the time of the model" drives 16 12
kept() {
  mkdir -p kept && howmany train -n 3 -i 1 -d digits:50 -p logistic --simulate "$study" $server --servers 2 $1 --simgrid-files kept >/dev/null && is "$(tr '\n' ' ' <kept/hosts.txt)" "$2"
}
check "servers have separate nodes" kept "" "node-0 node-1 node-2 node-3 node-4 "
check "--colocated puts servers on the nodes of the first workers" kept --colocated "node-0 node-1 node-2 node-0 node-1 "
printf 'flops: 1 Gflop/s\nefficiency: 1\nnetwork: {bandwidth: 1 Gbit/s, latency: 100 us}\nmax_nodes: 4\n' >few.yaml
expect "more nodes than the cluster has" 2 "6 ranks need 6 nodes, and there are 4" $four --simulate few.yaml $server --servers 2

# ---- staleness in records --------------------------------------------------------------------
sizes="-n 2 -p logistic -d digits:50 -i 2 --look-every 1 --simulate $study"
recorded() {
  for way in "-a sgd" "$server --consistency ssp --staleness 3" "$server --consistency async"; do howmany train $sizes $way --record s.csv >/dev/null || return 1; done
  is "$(head -1 s.csv | grep -o 'staleness.*')" staleness,backups,rows && is "$(tail -n +2 s.csv | sed 's/.*,\([^,]*,[^,]*,[^,]*\)$/\1/' | tr '\n' ' ')" "0,0,50 0,0,50 3,0,50 3,0,50 async,0,50 async,0,50 "
}
check "a table has the staleness of each run" recorded
earlier() { # a table of an earlier version: synchronous runs are appended
  head -2 s.csv | sed 's/,[^,]*,[^,]*,[^,]*$//' >early.csv && howmany train $sizes --record early.csv >/dev/null &&
    awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' early.csv && is "$(wc -l <early.csv)" 4
}
check "a table without the column staleness keeps its columns" earlier
expect "a run that may be stale is refused for such a table" 2 "has no column staleness, and this run may be stale; give another file" howmany train $sizes $server --consistency async --record early.csv
backed() { # a table with staleness and without backups keeps its columns too
  howmany train $sizes -n 3 $server --backups 1 --record s.csv >/dev/null && is "$(tail -1 s.csv | sed 's/.*,\([^,]*,[^,]*\)$/\1/')" 1,50 &&
    head -2 s.csv | sed 's/,[^,]*,[^,]*$//' >middle.csv && howmany train $sizes $server --consistency async --record middle.csv >/dev/null &&
    is "$(sed 's/.*,//' middle.csv | tr '\n' ' ')" "staleness 0 async async "
}
check "a table has the backups of each run" backed
expect "a run with backups is refused for a table without them" 2 "has no column backups, and this run has backup workers; give another file" howmany train $sizes -n 3 $server --backups 1 --record middle.csv
stored() {
  for way in "" "$server --consistency ssp --staleness 3" "$server --consistency async"; do howmany train $sizes $way -a sgd --record s.db >/dev/null || return 1; done
  howmany runs export --traces --record s.db s.jsonl && is "$(jq -r 'select(.run) | .staleness' s.jsonl | tr '\n' ' ')" "null 3 async " &&
    howmany runs export --traces --csv --record s.db again.csv && is "$(tail -n +2 again.csv | sed 's/.*,\([^,]*,[^,]*,[^,]*\)$/\1/' | sort -u | tr '\n' ' ')" ",,50 3,,50 async,,50 " &&
    howmany runs import --record again.db again.csv >/dev/null && is "$(howmany runs list --record again.db --json | jq -c '[.runs[] | [.consistency, .staleness]] | sort')" '[[null,null],["async",null],["ssp",3]]'
}
[ "$HM_SQLITE" = 1 ] && check "a store keeps the staleness of each run" stored

expect "the table names the servers" 0 "logistic by sgd on 4 ranks and 2 servers by ssp 3 (simulated)" $four --simulate "$study" $server --servers 2 --consistency ssp -i 1 --text
finish
