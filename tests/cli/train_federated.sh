#!/usr/bin/env bash
# Tests training without a common model: gossip averaging and federated averaging, on real and on simulated ranks. Their
# numbers are compared with an independent program in tests/unit/test_train.c.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # Open MPI leaks memory
study=$HM_SOURCE/examples/cluster-study.yaml
cd "$work" || exit 1
learnt() { jq -c 'select(.iteration) | [.iteration, .epoch, .objective, .bytes, .flop]'; }
falls() { # COMMAND…: the last objective is below the first
  "$@" >"$work/out" || return 1
  jq -se '[.[] | select(.iteration) | .objective] | length > 1 and .[-1] < .[0] and .[-1] == .[-1]' "$work/out"
}

# ---- options -----------------------------------------------------------------------------------
refused() { # NAME MESSAGE OPTIONS…
  local name=$1 message=$2
  shift 2
  expect "$name" 2 "$message" howmany train -d sparse:100x10 -i 1 "$@"
}
refused "clients of another algorithm" "--clients: applies only to fedavg; this run uses sgd" -a sgd --clients 4
refused "a fraction of another algorithm" "--fraction: applies only to fedavg" -a gossip-ring --fraction 0.5
refused "no clients" "--clients: '0'" -a fedavg --clients 0
refused "fewer clients than workers" "--clients: 2 clients are fewer than the 3 workers" -a fedavg --clients 2 -n 3
refused "a fraction of 0" "--fraction: '0' is not above 0 and at most 1" -a fedavg --fraction 0
refused "a fraction above 1" "--fraction: '1.5' is not above 0 and at most 1" -a fedavg --fraction 1.5
refused "a negative exponent" "--uneven: '-1' is less than 0" -a fedavg --uneven -1
refused "an exponent out of range" "--uneven: '11' is not from 0 to 10" -a fedavg --uneven 11
refused "shares of clients" "--shares: applies only to other algorithms" -a fedavg --shares 1,2 -n 2
refused "gossip on parameter servers" "gossip-exp does not run on parameter servers" -a gossip-exp --platform server
refused "clients of a driver" "fedavg does not run with a driver" -a fedavg --platform driver
expect "the header describes the clients" 0 '"clients":7,"fraction":0.5,"uneven":1' howmany train -a fedavg -d sparse:100x10 -i 1 --clients 7 --fraction 0.5 --uneven 1

if [ -z "${HM_SMPIMAIN:-}" ]; then
  skip "simulated gossip and federated averaging" "built without SimGrid, or with sanitizers"
  finish
fi

# ---- simulated ranks ---------------------------------------------------------------------------
simulate() { howmany train --simulate "$study" "$@"; }
as_real() { # N OPTIONS…
  local n=$1
  shift
  howmany train -n "$n" "$@" | learnt >real && simulate -n "$n" "$@" | learnt >simulated && test "$(wc -l <real)" -ge 3 && cmp real simulated
}
if [ -n "${HM_REDUCE:-}" ]; then
  check "gossip in a ring: the bits of real ranks" as_real 4 -a gossip-ring -d sparse:300x40 -b 30 -i 4 --look-every 1
  check "gossip in an exponential graph: the bits of real ranks" as_real 5 -a gossip-exp -d sparse:300x40 -b 30 -i 4 --look-every 1
  check "federated averaging: the bits of real ranks" as_real 3 -a fedavg -d sparse:300x40 --clients 8 --fraction 0.5 --uneven 0.5 -i 4
fi
resumes() { # N OPTIONS…: 9 iterations at once, and 4 + 5
  local n=$1 common
  shift
  common="-d sparse:200x30 -n $n --look-every 1 $*"
  rm -f ck
  simulate $common -i 9 | learnt | tail -n 5 >whole &&
    simulate $common -i 4 --checkpoint ck >/dev/null &&
    simulate $common -i 9 --checkpoint ck --resume | learnt >rest && test "$(wc -l <rest)" = 5 && cmp whole rest
}
for algorithm in gossip-ring gossip-exp fedavg; do
  check "$algorithm trains a linear model" falls simulate -p logistic -a $algorithm -d sparse:400x50 -i 60 -b 40 -n 3 --look-every 20
  check "$algorithm trains a perceptron" falls simulate -p perceptron --hidden 16 -a $algorithm -d digits:300 --scale divide:255 -i 30 -n 3 --look-every 10
  check "$algorithm resumes bit for bit" resumes 3 -a $algorithm -b 20
done
check "sampled clients resume bit for bit" resumes 2 -a fedavg --clients 5 --fraction 0.4 --uneven 1 --passes 2
twice() { # OPTIONS…: two runs print the same bytes
  simulate "$@" | jq -c 'del(.time, .memory_bytes)' >once && simulate "$@" | jq -c 'del(.time, .memory_bytes)' | cmp once -
}
check "times and numbers of gossip are the same in every run" twice -n 16 -a gossip-ring -d sparse:300x40 -b 64 -i 5 --look-every 1
check "times and numbers of clients are the same in every run" twice -n 16 -a fedavg -d sparse:300x40 --clients 40 --fraction 0.3 -i 5
same_clients() { # The clients and their rows do not depend on the number of workers.
  local n
  for n in 1 3 4; do
    simulate -a fedavg -p logistic -d digits:400 --clients 12 --fraction 0.5 --uneven 1.2 --passes 2 -i 6 -n $n | jq 'select(.summary).objective'
  done | jq -se '(max - min) / min < 1e-12 and (length == 3)'
}
check "results of clients do not depend on the number of workers" same_clients
uneven() { # Uneven clients: rank 0 has most rows and is waited for.
  local even odd
  even=$(simulate -a fedavg -p logistic -d dense:4000x50 -n 8 -i 2 | jq 'select(.summary).compute_s')
  odd=$(simulate -a fedavg -p logistic -d dense:4000x50 -n 8 -i 2 --uneven 1 | jq 'select(.summary).compute_s')
  # The first of 8 clients has 8 / (1 + 1/2 + ... + 1/8) = 2.943 times as many rows.
  jq -en "$odd / $even | . > 2.8 and . < 3.05"
}
check "uneven clients wait for the largest" uneven
fewer() { # A fraction of the clients computes a fraction of the rows.
  simulate -a fedavg -d dense:4000x50 --clients 20 --fraction 0.25 -i 8 -n 4 | jq -e 'select(.summary) | .epochs == 2'
}
check "a quarter of the clients makes a quarter of an epoch" fewer

# ---- convergence -------------------------------------------------------------------------------
held_out() { # ALGORITHM MOST OPTIONS…: converge predicts the loss of numbers of workers that it has not seen
  local algorithm=$1 most=$2 m
  shift 2
  rm -f traces.csv
  for m in 1 2 4 8; do
    simulate -p logistic -d digits:1000 --lambda 1e-3 -a "$algorithm" -n $m --best 0.20274 --record traces.csv "$@" >/dev/null || return 1
  done
  howmany converge traces.csv --json | jq -e --argjson most "$most" '.algorithms[0] | .traces == 4 and .error > 0 and .error < $most'
}
torture "converge learns gossip in a ring" held_out gossip-ring 0.02 -b 256 -i 80 --look-every 2
check "converge learns clients that make local epochs" held_out fedavg 0.1 --passes 2 --step 0.25 -i 40

# ---- times of plan -----------------------------------------------------------------------------
agrees() { # PLATFORM N: gossip with all rows in one batch takes the time that plan predicts, within 2 %
  local seconds flop
  simulate -p squares -a "$1" -d dense:64x20000 -b 64 -i 2 --look-every 1 -n "$2" >trace || return 1
  read -r seconds flop < <(jq -r 'select(.iteration == 2) | "\(.seconds) \(.flop)"' trace)
  { echo "compute: $flop flop / flops / n"; echo "communicate: [{bytes: 160000 B, scheme: ring}]"; echo "cluster:"; grep -v '^#' "$study" | sed 's/^/  /'; } >job.yaml
  howmany plan job.yaml --platform "$1" --json --max-n 64 | jq -e --argjson n "$2" --argjson is "$seconds" '
    .curve[] | select(.n == $n) | $is / .time_s | . > 0.98 and . < 1.02'
}
for n in 2 4 16 64; do
  check "gossip in a ring of $n takes the time of plan" agrees gossip-ring $n
  check "gossip in an exponential graph of $n takes the time of plan" agrees gossip-exp $n
done
rounds() { # N: a round of 5 local passes, with an all-reduce of the models, takes 5 times plan's iteration
  local seconds flop
  simulate -p squares -a fedavg -d dense:64x20000 -b 64 --passes 5 --scheme ring -i 2 -n "$1" >trace || return 1
  read -r seconds flop < <(jq -r 'select(.iteration == 2) | "\(.seconds) \(.flop)"' trace)
  { echo "compute: $flop flop / 5 / flops / n"; echo "communicate: [{bytes: 160008 B, scheme: ring, times: 0.2}]"; echo "cluster:"; grep -v '^#' "$study" | sed 's/^/  /'; } >job.yaml
  howmany plan job.yaml --json --max-n 64 | jq -e --argjson n "$1" --argjson is "$seconds" '
    .curve[] | select(.n == $n) | $is / (5 * .time_s) | . > 0.98 and . < 1.02'
}
for n in 2 8 32; do
  check "a round of $n clients takes the time of plan" rounds $n
done
finish
