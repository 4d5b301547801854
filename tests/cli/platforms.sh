#!/usr/bin/env bash
# Tests platforms and stragglers in a plan: options, answers, and errors.
. "$(dirname "$0")/lib.sh"
every=${1:-1} # With the sanitizers, only one in N checks is made, N = $1.
servers=examples/servers.yaml
straggle=examples/stragglers.yaml

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  chosen || return 0
  local name=$1 filter=$2 every=1
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}

json "all platforms are ranked once" '[.ranking[] | .platform + " " + .consistency] | sort ==
  ["allreduce bsp", "driver bsp", "server async", "server bsp", "server ssp"]' howmany plan $servers --platform all --json
json "--backups adds one platform to the ranking" '[.ranking[].backups] | sort == [0,0,0,0,0,2]' howmany plan $servers --platform all --backups 2 --json
json "a list of platforms is ranked" '[.ranking[].platform] | sort == ["allreduce", "driver"]' howmany plan $servers --platform driver,allreduce --json
json "servers without a consistency are bsp" '.platform == "server" and .consistency == "bsp" and .staleness == null and .ranking == []' howmany plan $servers --platform server --json
json "a staleness means ssp" '.consistency == "ssp" and .staleness == 5' howmany plan $servers --platform server --staleness 5 --json
json "the cost includes the servers" '.best.nodes == .best.n + 3 and (.best.cost / .best.total_s * 3600 / .best.nodes - 1 | fabs) < 1e-9' howmany plan $servers --platform server --servers 3 --json
json "colocated servers cost nothing" '.best.nodes == .best.n and .colocated and .servers <= .best.n' howmany plan $servers --platform server --colocated --json
json "the goal cost chooses fewer servers" '.servers == 1' howmany plan $servers --platform server --consistency async --goal cost --max-n 4 --slack 0 --json
json "the goal time chooses more" '.servers == 2' howmany plan $servers --platform server --consistency async --goal time --max-n 4 --slack 0 --json
json "the best platform meets the deadline" '.best.total_s <= 3600 and .status == "ok"' howmany plan $servers --platform all --deadline 1h --json
json "staleness can cost iterations" '(.[1].best.total_s / .[0].best.total_s - 2 | fabs) < 0.01' \
  bash -c "(howmany plan $servers --platform server --servers 2 --consistency async --json; howmany plan $servers --platform server --servers 2 --consistency async --stale-cost 2x --json) | jq -s ."
json "ssp with a staleness of 0 equals bsp bit for bit" '[.[] | [.curve[].time_s]] | .[0] == .[1]' \
  bash -c "(howmany plan $straggle --max-n 40 --platform server --servers 1 --json; howmany plan $straggle --max-n 40 --platform server --servers 1 --staleness 0 --json) | jq -s ."
json "the waiting time is reported" '(.curve[7].wait_s - 3 * (1 - pow(0.95; 8)) | fabs) < 1e-9 and .limit.kind == "stragglers"' howmany plan $straggle --max-n 8 --json
json "even workers have no waiting time" '.curve[0] | has("wait_s") or has("server_share") | not' howmany plan $servers --json
json "without --platform the answer has no platform" 'has("platform") or has("servers_enough") | not' howmany plan $servers --json
expect "csv has the columns" 0 ",fits,wait_s,server_share,platform,consistency,staleness,servers,backups" howmany plan $straggle --platform server --csv
check "each line of the CSV has the same number of cells" bash -c "howmany plan $straggle --platform server --csv | awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }'"
expect "the ranking names the saturated links" 0 "links saturated: 3 servers would be enough" howmany plan $servers --platform all --servers 1 --slack 0
expect "the help has the options of platforms" 0 "--stale-cost" howmany plan --help

# The cost of staleness in the stored fit is 1.5 m^0.25 with a bound, and twice that without a bound.
awk 'BEGIN {print "algorithm,m,staleness,iteration,loss"; split("2 4 8", ms, " "); split("0 1 4 async", ss, " ")
  for (a = 1; a <= 3; a++) for (b = 1; b <= 4; b++) for (i = 1; i <= 60; i++) {
    c = ss[b] == "0" ? 1 : 1.5 * ms[a] ^ 0.25 * (ss[b] == "async" ? 2 : 1)
    printf "sgd,%d,%s,%d,%.9g\n", ms[a], ss[b], i, 0.5 * exp(-0.05 * i / c) }}' >"$work/stale.csv"
howmany converge "$work/stale.csv" --best 0 --save "$work/fit.json" >"$work/converged"
expect "converge reports the cost of staleness" 0 "1 to 4 on 8 workers costs 2.52 times the iterations" cat "$work/converged"
json "converge --json has the cost of staleness" '.algorithms[0] | (.ssp.power - 0.25 | fabs) < 0.01 and (.async.costs[2].factor / 5.05 - 1 | fabs) < 0.02 and .async.costs[2].staleness == "async"' \
  howmany converge "$work/stale.csv" --best 0 --json
check "a stored fit has the cost of staleness" bash -c "howmany converge $work/fit.json | diff $work/converged -"
json "a fit gives the factor of each consistency and n" '[.ranking[] | select(.consistency != "bsp") | .stale_cost / (pow(.n; 0.25) * 1.5 * (if .consistency == "async" then 2 else 1 end)) - 1 | fabs] | length == 2 and all(. < 0.02)' \
  howmany plan $servers --platform server --consistency all --servers 2 --stale-cost "$work/fit.json" --json
json "--stale-cost ALGORITHM=FILE selects the algorithm" '.stale_cost > 1' howmany plan $servers --platform server --staleness 4 --stale-cost "sgd=$work/fit.json" --json
json "the cost of staleness multiplies the iterations" '.[1].iterations == (.[1].stale_cost * .[0].iterations | ceil) and .[0].best.n == .[1].best.n' \
  bash -c "(howmany plan $servers --platform server --staleness 4 --servers 2 --n 8 --json; howmany plan $servers --platform server --staleness 4 --servers 2 --n 8 --stale-cost $work/fit.json --json) | jq -s ."
expect "an algorithm that the fit does not have is refused" 2 "the fit has no algorithm 'sdg'" howmany plan $servers --platform server --staleness 4 --stale-cost "sdg=$work/fit.json"
grep -v async "$work/stale.csv" >"$work/bounded.csv"
howmany converge "$work/bounded.csv" --best 0 --save "$work/bounded.json" >/dev/null
expect "a fit without asynchronous traces is refused for async" 2 "there are no asynchronous traces of sgd" howmany plan $servers --platform server --consistency async --stale-cost "$work/bounded.json"
json "a fit without asynchronous traces leaves async without a cost" '[.ranking[] | select(.consistency == "async").stale_cost] == [null]' \
  howmany plan $servers --platform server --consistency ssp,async --stale-cost "$work/bounded.json" --json
awk -F, 'NR == 1 || $3 == 0' "$work/stale.csv" >"$work/fresh.csv"
howmany converge "$work/fresh.csv" --best 0 --save "$work/fresh.json" >/dev/null
expect "a fit without stale traces is refused" 2 "does not contain the cost of staleness" howmany plan $servers --platform server --staleness 4 --stale-cost "$work/fresh.json"
expect "a file that is not a fit is refused" 2 "not a stored convergence" bash -c "echo '{}' >$work/no.json; howmany plan $servers --platform server --staleness 4 --stale-cost $work/no.json"
expect "a missing fit is reported" 2 "cannot open" howmany plan $servers --platform server --staleness 4 --stale-cost "$work/gone.json"
sed 's/^sgd/adam/' "$work/stale.csv" | tail -n +2 | cat "$work/stale.csv" - >"$work/two.csv"
howmany converge "$work/two.csv" --best 0 --save "$work/two.json" >/dev/null
expect "a fit of two algorithms needs a name" 2 "for several algorithms" howmany plan $servers --platform server --staleness 4 --stale-cost "$work/two.json"
expect "stale runs are candidates of advise" 0 "sgd (ssp " \
  bash -c "awk -F, 'NR == 1 {print \$0 \",seconds\"; next} {print \$0 \",\" 1 / \$2}' $work/stale.csv >$work/timed.csv; howmany advise $work/timed.csv --best 0 --loss 0.1"

# Frameworks: 203,530 parameters of 4 bytes over 750 Mbit/s and 75 us, and the costs of docs/reference/platforms.md.
printf 'network: mnist-256\nbatch: 500\nscaling: weak\ncluster: {machine: m4.xlarge, threads: 4}\n' >"$work/mnist.yaml"
server="--platform server --servers 1 --n 3 --json"
json "a server of MXNet takes 0.6 ms for each message" '(.best.communicate_s / (2 * (75e-6 + 3 * (203530 * 32 / 750e6 + 6e-4))) - 1 | fabs) < 1e-9' \
  howmany plan "$work/mnist.yaml" --set framework=mxnet $server
json "TensorFlow takes 8 ms in each iteration" '(.[1].best.compute_s - .[0].best.compute_s - 8e-3 | fabs) < 1e-9' \
  bash -c "(howmany plan $work/mnist.yaml $server; howmany plan $work/mnist.yaml --set framework=tensorflow $server) | jq -s ."
json "asynchronous workers queue at the server" '((203530 * 32 / 750e6 + 6e-4) * 2) as $s | (.best.compute_s + 150e-6) as $z | (.best.time_s - $z) as $r |
  ($r * ($z + $r) / ($s * ($z + $r) + 2 * $s * $r) - 1 | fabs) < 1e-9' howmany plan "$work/mnist.yaml" --set framework=mxnet --consistency async $server
json "Spark's driver schedules two stages and twelve tasks" '(.[1].best.communicate_s - .[0].best.communicate_s - 0.022 - 3 * 203530 * 8 * 5e-12 | fabs) < 1e-9' \
  bash -c "for f in none spark; do howmany plan $work/mnist.yaml --set precision=fp64 --set framework=\$f --platform driver --n 3 --json; done | jq -s ."
json "a note says that the costs of a framework are missing" '[.[].notes | any(test("costs of a framework are not included"))] == [true, false]' \
  bash -c "for f in none spark; do howmany plan $work/mnist.yaml --set framework=\$f --platform driver --n 3 --json; done | jq -s ."
json "text is converted value by value" '(.[1].best.compute_s - .[0].best.compute_s - 500 * 784 * 53e-9 / 4 | fabs) < 1e-9' \
  bash -c "for i in memory text; do howmany plan $work/mnist.yaml --set framework=mxnet --set input=\$i $server; done | jq -s ."
expect "a note names the costs of the framework" 0 "costs of mxnet are assumed: 0.6 ms of a server for a message" howmany plan "$work/mnist.yaml" --set framework=mxnet --platform server
json "fewer threads are slower" '.[0].best.compute_s > 1.4 * .[1].best.compute_s' \
  bash -c "for t in 1 2; do howmany plan $work/mnist.yaml --set cluster.threads=\$t $server; done | jq -s ."
json "a stated efficiency is used instead of operations" '(.best.compute_s / (3 * 2 * 203264 * 500 / (153.6e9 * 0.5)) - 1 | fabs) < 0.2 and ([.notes[] | select(test("operations"))] == [])' \
  howmany plan "$work/mnist.yaml" --set cluster.efficiency=0.5 --set cluster.roofline=false $server
json "published platforms are within 30 % in the median" '[.medians[] | select(.by == "framework") | .median_error] | length == 5 and max < 0.3' howmany validate --platforms --json
expect "validate --platforms prints every row" 0 "mnist-256-256" howmany validate --platforms
expect "a table of platforms can be given" 2 "platforms.csv:1" bash -c "echo source >$work/platforms.csv; howmany validate --platforms $work/platforms.csv"
expect "validate --platforms draws no picture" 2 "neither --fits nor --plot" howmany validate --platforms --plot x.svg

# Graphs on a CPU: scalar arithmetic at 7 % of the peak of one core in 64 bits, or memory traffic.
graph='{generate: grid, vertices: 10000}' # 100 x 100 vertices have 2 x 99 x 100 = 19800 edges.
json "edges of a graph take scalar arithmetic" '(.best.compute_s / (19800 * 14 / (640e9 / 8 * 0.07)) - 1 | fabs) < 1e-9' \
  howmany plan - --n 1 --json <<<"{graph: $graph, communicate: none, cluster: {machine: m5.4xlarge, threads: 1}}"
json "edges of a graph take memory traffic" '(.best.compute_s / (19800 * 32 / 1e9) - 1 | fabs) < 1e-9' \
  howmany plan - --n 1 --json <<<"{graph: $graph, communicate: none, cluster: {machine: m5.4xlarge, memory_bandwidth: 1 GB/s}}"
json "a stated rate counts alone" '(.best.compute_s / (19800 * 14 / 1e9) - 1 | fabs) < 1e-9' \
  howmany plan - --n 1 --json <<<"{graph: $graph, communicate: none, cluster: {machine: m5.4xlarge, flops: 1 Gflop/s, efficiency: 1}}"

expect "an unknown platform is refused" 2 "'spark' is not allreduce, driver, server, gossip-ring, gossip-exp, federated, pipeline, mirrored" howmany plan $servers --platform spark
expect "an unknown consistency is refused" 2 "'eventual' is not bsp, ssp, async or all" howmany plan $servers --platform server --consistency eventual
expect "a negative staleness is refused" 2 "staleness" howmany plan $servers --platform server --staleness -1
expect "a fraction of a server is refused" 2 "servers" howmany plan $servers --platform server --servers 1.5
expect "0 servers are refused" 2 "servers" howmany plan $servers --platform server --servers 0
expect "more servers than parameters are refused" 2 "12 servers for a model of 11 parameters" howmany plan $servers --set network.parameters=11 --platform server --servers 12
expect "more servers than nodes are refused" 2 "leave none for workers: the cluster has 16" howmany plan $servers --platform server --servers 16
expect "as many backups as workers are refused" 2 "4 backups are not fewer than the workers" howmany plan $servers --platform server --backups 4 --max-n 4
expect "backups with async are refused" 2 "--backups: this applies only to consistency bsp" howmany plan $servers --platform server --consistency async --backups 1
expect "a staleness with bsp is refused" 2 "--staleness: this applies only to consistency ssp" howmany plan $servers --platform server --consistency bsp --staleness 2
expect "servers with a driver are refused" 2 "--servers: this applies only to platform server or all" howmany plan $servers --platform driver --servers 2
expect "servers without a platform are refused" 2 "--servers: this applies only to platform server or all" howmany plan $servers --servers 2
expect "a cost of staleness below 1 is refused" 2 "is less than 1" howmany plan $servers --platform all --stale-cost 0.5
expect "a cost of staleness with bsp is refused" 2 "--stale-cost: this applies only to consistency ssp or async" howmany plan $servers --platform server --stale-cost 2
expect "a platform with a scheme is refused" 2 "a platform has its own schemes" howmany plan $servers --platform all --scheme ring
expect "a platform with runs is refused" 2 "the runs were made on one platform" howmany plan $servers --platform all --runs examples/runs.csv
expect "a platform needs the size of messages" 2 "needs the size of the model" howmany plan examples/fig1.yaml --platform all
printf 'graph: {generate: grid, vertices: 100}\ncommunicate: none\ncluster: {flops: 1 Gflop/s}\n' >"$work/g.yaml"
expect "a platform for a graph job is refused" 2 "not to a graph" howmany plan "$work/g.yaml" --platform all
# Ying et al. 2018: ResNet-50 on 1024 chips TPU v3, batch 32,768: over 1.05 million images/s.
json "a TPU pod reaches its published speed within a third" '.strategy == "TPUStrategy" and .samples_per_s > 0.67 * 1.05e6 and .samples_per_s < 1.5 * 1.05e6' \
  howmany plan resnet-50 --batch 32768 --on tpu-v3-8 --platform tpu --n 1024 --json
eager=$(howmany plan resnet-50 --batch 32 --on tpu-v3 --n 1 --set software=eager --json | jq .samples_per_s)
json "steps on TPUs are compiled" ".samples_per_s == $eager" howmany plan resnet-50 --batch 32 --on tpu-v3 --n 1 --set software=compiled --json
finish
