#!/usr/bin/env bash
# Tests simulated clusters. Sums over ranks must take the time of plan's closed forms on SimGrid, the same in every
# run, and must give the same bits as on real ranks.
. "$(dirname "$0")/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export ASAN_OPTIONS=detect_leaks=0 # Open MPI leaks memory
ours=tree,ring,doubling,two-wave,master,auto
sizes=80000,800000,2400000 ranks="2 3 8 32"
in_torture && sizes=80000,800000,8000000 ranks="2 3 4 8 16 32 64"
points=$(($(wc -w <<<"$ranks") * 6)) # of each scheme: three sizes on two networks
flop=1e8 # computation of each rank before the sum: 1 ms

real() { mpirun -n "$1" "$HM_REDUCE" "${@:2}"; }
simulated() { # CLUSTER N REDUCE'S ARGUMENTS…
  mkdir -p "$work/platform"
  "$HM_ON_CLUSTER" "$1" "$2" "$work/platform" "$HM_SMPIMAIN" "$HM_REDUCE_SIM" "${@:3}"
}

# Writes a cluster file of one network; its keys are also those of the cluster in a job.
network() { # NAME BANDWIDTH LATENCY
  printf '%s\n' "flops: 100 Gflop/s" "efficiency: 1" "fabric: {bandwidth: $2, latency: $3}" \
    "max_nodes: 64" >"$work/$1.yaml"
}
network slow "1 Gbit/s" "100 us"
network fast "10 Gbit/s" "20 us"

simulate_all() {
  local net n
  for net in slow fast; do
    for n in $ranks; do
      simulated "$work/$net.yaml" $n ring,doubling,master $sizes $flop 1 |
        jq -r --arg net $net '"\($net) \(.scheme) \(.bytes) \(.n) \(.seconds)"'
    done
  done >"$work/simulated"
  [ "$(wc -l <"$work/simulated")" -eq $((3 * points)) ]
}

# The job of a sum, for plan. A master makes two transfers, in and out. Doubling with ranks beyond a power
# of two needs one message before and one after, which its closed form does not include.
job() { # NETWORK SCHEME BYTES N
  echo "compute: $flop flop / flops"
  case "$2 $4" in
  ring*) echo "communicate: [{bytes: $3 B, scheme: ring}]" ;;
  "doubling 3") echo "communicate: [{time: (floor(log2(n)) + 2) * (latency + $3 B / bandwidth)}]" ;;
  doubling*) echo "communicate: [{bytes: $3 B, scheme: recursive-doubling}]" ;;
  master*) echo "communicate: [{bytes: $3 B, scheme: linear, times: 2}]" ;;
  esac
  echo "cluster:"
  sed 's/^/  /' "$work/$1.yaml"
}

# agree SCHEME: SimGrid and plan must agree within 5 % at every point, for the total time and for the communication alone.
agree() {
  local net scheme bytes n seconds
  grep " $1 " "$work/simulated" | while read -r net scheme bytes n seconds; do
    job "$net" "$scheme" "$bytes" "$n" | howmany plan - --json |
      jq -r --argjson n "$n" --argjson is "$seconds" --argjson flop $flop --arg what "$net $scheme $bytes" '
        .curve[] | select(.n == $n) | [$is / .time_s - 1, ($is - $flop / 100e9) / .communicate_s - 1] |
        "\($what) \($n) \(map(if . < 0 then -100 * . else 100 * . end) | join(" "))"'
  done >"$work/off"
  [ "$(wc -l <"$work/off")" -eq "$points" ] || return 1
  awk '{if ($5 > whole) whole = $5; if ($6 > comm) comm = $6; if ($5 > 5 || $6 > 5) {print; bad = 1}}
    END {printf "%d points; largest deviation: %.3f %% of the whole, %.3f %% of the communication\n", NR, whole, comm; exit bad}' "$work/off"
}

# The same bits on real and on simulated ranks, for lengths that are special cases of some scheme.
same_bits() { # N
  local shape='[.scheme, .n, .bytes, .repeat, .hash, .same, .sent_bytes]'
  real "$1" $ours 0,8,16,24,1000,80008,800000 0 2 >"$work/real" &&
    simulated "$work/fast.yaml" "$1" $ours 0,8,16,24,1000,80008,800000 0 2 >"$work/sim" &&
    [ "$(wc -l <"$work/sim")" -eq 84 ] && diff <(jq -c "$shape" "$work/real") <(jq -c "$shape" "$work/sim")
}

all_same() { real "$1" $ours,library 8,80008 0 2 | jq -s -e 'length == 28 and all(.same)'; }

twice() { # the same virtual times to the last digit
  local i
  for i in 1 2; do
    simulated "$work/slow.yaml" 13 $ours,library 80008 1e6 3 >"$work/run$i" || return 1
  done
  cmp "$work/run1" "$work/run2" && [ "$(wc -l <"$work/run1")" -eq 21 ]
}

steady() { # the time of a sum does not depend on earlier sums
  jq -s -e 'group_by(.scheme) | all(map(.seconds) | (max - min) / max < 1e-9)' "$work/run1"
}

aligned() { jq -s -e 'all(.apart_s == 0)' "$work/run1"; }

several_in_a_node() { # the link is used within a node, the network between nodes
  printf '%s\n' "flops: 100 Gflop/s" "accelerators: 4" "link: {bandwidth: 10 GB/s, latency: 5 us}" \
    "fabric: {bandwidth: 1 GB/s, latency: 50 us}" >"$work/node.yaml"
  simulated "$work/node.yaml" 4 doubling 1000000 0 1 | jq -e '.seconds / (2 * (5e-6 + 1e-4)) | . > 0.95 and . < 1.05' &&
    simulated "$work/node.yaml" 8 ring 1000000 0 1 | jq -e '.seconds / (14 * 50e-6 + 14 / 8 * 1e-3) | . > 0.95 and . < 1.05'
}

if [ -n "${HM_REDUCE:-}" ]; then
  for n in 1 3; do
    check "$n real ranks have the same bits" all_same $n
  done
else
  skip "real ranks" "built without MPI"
fi
if [ -n "${HM_REDUCE_SIM:-}" ]; then
  check "simulated ranks on two networks" simulate_all
  for scheme in ring doubling master; do
    check "$scheme: simulated seconds are those of the closed form" agree $scheme
    sed 's/^/# /' "$work/check.log"
  done
  check "two simulations are the same" twice
  check "every sum takes the same time" steady
  check "ranks leave a barrier at exactly the same time" aligned
  check "several workers in a node" several_in_a_node
  expect "a simulated program prints its own error" 2 "usage: reduce" simulated "$work/slow.yaml" 2 rung 8 0 1
  expect "a cluster without a network" 2 "cluster.fabric" simulated <(echo "flops: 1 Gflop/s") 2 ring 8 0 1
else
  skip "simulated ranks" "built without SimGrid, or with sanitizers"
fi
if [ -n "${HM_REDUCE:-}" ] && [ -n "${HM_REDUCE_SIM:-}" ]; then
  for n in 1 2 3 4; do
    check "$n real and simulated ranks give the same bits" same_bits $n
  done
fi
finish
