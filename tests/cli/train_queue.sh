#!/usr/bin/env bash
# Tests queues at the links of parameter servers: the times that plan predicts for stale workers are compared with simulations, at
# loads of the links from 10 % to 95 %.
. "$(dirname "$0")/lib.sh"
if [ -z "${HM_SMPIMAIN:-}" ]; then
  skip "queues against simulations" "built without SimGrid, or with sanitizers"
  finish
fi
cd "$work" || exit 1
# Every iteration of a worker is `factor` times slower, so the servers' own work stays small beside their messages.
cat >busy.yaml <<END
flops: 4 Gflop/s
efficiency: 1
fabric: {bandwidth: 1 Gbit/s, latency: 10 us}
max_nodes: 1024
stragglers: {chance: 100 %, factor: 2, spread: 0.3}
END
{ printf 'compute: 100000 flop / flops\ncommunicate: [{bytes: 8064 B, scheme: ring}]\nscaling: weak\ncluster:\n'; sed 's/^/  /' busy.yaml; } >job.yaml

row() { # FACTOR SPREAD N SERVERS CONSISTENCY: load of the simulated links, simulated seconds, predicted seconds
  local rows=$((25 * $3)) is
  is=$(howmany train -n "$3" -p squares -d dense:${rows}x1000 -b $rows -i 100 --look-every 100 --platform server --servers "$4" \
    --consistency "$5" --simulate ./busy.yaml --set stragglers.factor="$1" --set stragglers.spread="$2" | jq 'select(.summary) | .elapsed_s / .iterations')
  howmany plan job.yaml --platform server --servers "$4" --consistency "$5" --n "$3" --json --set cluster.stragglers.factor="$1" \
    --set cluster.stragglers.spread="$2" | jq -c --argjson is "${is:-null}" --argjson s "$4" '.curve[0] | [.n * 8064 / 125e6 / $s / $is, $is, .time_s]'
}
within() { # MOST LEAST-LOAD MOST-LOAD N SERVERS CONSISTENCY SPREAD FACTOR…: all differences are below MOST
  local most=$1 low=$2 high=$3 n=$4 servers=$5 consistency=$6 spread=$7 factor
  shift 7
  for factor; do row "$factor" "$spread" "$n" "$servers" "$consistency"; done >rows
  cat rows
  jq -se --argjson most "$most" --argjson low "$low" --argjson high "$high" --argjson count $# \
    'length == $count and all((.[2] / .[1] - 1 | fabs) <= $most) and (map(.[0]) | min <= $low and max >= $high)' rows
}
# The table of docs/explain/accuracy.md, which `make torture` makes again, has more loads of the first case.
check "async, 1 server: within 5 % at 10 % and 94 % load" within 0.05 0.11 0.94 32 1 async 0.3 780 10
check "async, 4 servers: within 10 % at 10 % and 90 % load" within 0.1 0.11 0.9 32 4 async 0.3 195 2
torture "async, 8 workers: within 10 %" within 0.1 0.8 0.7 8 1 async 0.3 12
torture "async with heavy tails: within 10 %" within 0.1 0.98 0.94 32 1 async 1 10
check "ssp, 1 server: within 15 %" within 0.15 0.8 0.75 32 1 ssp 0.3 60
torture "ssp, 4 servers: within 15 %" within 0.15 0.75 0.7 32 4 ssp 0.3 15
bounds_are_worse() { # The longer of workers and links alone, which the queue replaces, is 10 % too short at this load.
  row 60 0.3 32 1 async | jq -e '([60 * 25e-6 * 1.046 + 20e-6 + 2 * 8064 / 125e6, 32 * 8064 / 125e6] | max) / .[1] < 0.9'
}
check "without the queue the time would be too short" bounds_are_worse
finish
