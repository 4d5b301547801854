#!/usr/bin/env bash
# Tests the comparison of platforms: figures are compared with separate runs, closed forms and plan; usage of ranks; wrong
# input; and that no process is left.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # Open MPI does not free all its memory.
mpi=${HM_REDUCE:+1} sim=${HM_SMPIMAIN:+1}
data=$(realpath -m "${HOWMANY_DATA:-../shared/data}")
m4=$HM_SOURCE/examples/cluster-m4.yaml
cd "$work" || exit 1
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }

# ---- wrong input -----------------------------------------------------------------------------
expect "an unknown task is refused" 2 "--tasks: there is no task 'svm'; use logistic, softmax, one-layer or two-layers" howmany compare --tasks softmax,svm
expect "an unknown platform is refused" 2 "--platforms: there is no platform 'spark'; use driver, server (bsp, ssp and async), bsp, ssp, async or allreduce" howmany compare --platforms spark
expect "0 workers are refused" 2 "--n: '0,3' has the value 0; it must be a whole number from 1 to 1000" howmany compare -n 0,3
expect "a fraction of a worker is refused" 2 "--n: '1.5' has the value 1.5; it must be a whole number" howmany compare -n 1.5
expect "0 servers are refused" 2 "--servers: '0' is not a whole number from 1" howmany compare --servers 0
expect "a negative staleness is refused" 2 "--staleness: '-1' is not a whole number from 0" howmany compare --staleness -1
expect "0 iterations are refused" 2 "--iterations: '0' is not a whole number from 1" howmany compare -i 0
expect "a batch of 0 is refused" 2 "--batch: '0' is not a whole number from 1" howmany compare -b 0
expect "fewer rows than a mini-batch are refused" 2 "compare: softmax has 300 rows, but a mini-batch of 5 workers needs 5 x 500; give --rows 2500 or a smaller --batch" howmany compare --tasks softmax --rows 300
expect "--real with --simulate is refused" 2 "--real: it cannot be combined with --simulate or --set" howmany compare --real --simulate m4.xlarge
expect "an unknown machine is refused" 2 "m5.xlarg" howmany compare --simulate m5.xlarg
expect "an unknown key of the cluster is refused" 2 "unknown key 'speed'" howmany compare --set speed=3
expect "an unknown ending of --plot is refused" 2 "--plot: 'x.gif' is not the name of a plot file" howmany compare --plot x.gif
expect "--json with --csv is refused" 2 "--json or --csv, not both" howmany compare --json --csv
expect "an operand is refused" 2 "compare: unexpected operand 'softmax'" howmany compare softmax

# ---- the table of --measured -----------------------------------------------------------------
refused() { # NAME MESSAGE LINE…: a table of these lines is refused with the message
  local name=$1 message=$2
  shift 2
  printf '%s\n' "$@" >wrong.csv
  expect "$name" 2 "$message" howmany compare --dry-run --measured wrong.csv
}
head=task,platform,system,n,samples_per_s,seconds,batch
refused "--measured: a missing column is named" "system" task,platform,n,seconds,batch softmax,bsp,3,1,1
refused "--measured: a table without speeds is refused" "wrong.csv: it needs a column samples_per_s, or the columns seconds and batch" task,platform,system,n,seconds softmax,bsp,x,3,1
refused "--measured: an unknown task is refused" "wrong.csv:2: task: 'svm' is not logistic, softmax, one-layer or two-layers" $head svm,bsp,x,3,1,,
refused "--measured: an unknown platform is refused" "wrong.csv:3: platform: 'server' is not driver, bsp, ssp, async or allreduce" $head softmax,bsp,x,3,1,, softmax,server,x,3,1,,
refused "--measured: an empty name is refused" "system: '' is not the name of a framework" $head softmax,bsp,,3,1,,
refused "--measured: half a worker is refused" "n: '2.5' is not a whole number" $head softmax,bsp,x,2.5,1,,
refused "--measured: a speed of 0 is refused" "samples_per_s: '0' is not a number above 0" $head softmax,bsp,x,3,0,,
refused "--measured: a speed that no machine has is refused" "samples_per_s: '1e300' is not a number of at most 1e50" $head softmax,bsp,x,3,1e300,,
refused "--measured: a number of workers that no cluster has is refused" "n: '1e300' is not a number of at most 1e50" $head softmax,bsp,x,1e300,1,,
refused "--measured: a time that gives such a speed is refused" "seconds: '1e-300' is not a time that gives a speed" $head softmax,bsp,x,3,,1e-300,1
refused "--measured: seconds without a batch are refused" "batch: '' is not a number above 0" $head softmax,bsp,x,3,,0.5,
refused "--measured: failed runs alone are refused" "it has no run that succeeded" $head,status softmax,bsp,x,3,1,,,timeout
refused "--measured: ten repetitions are refused" "more than 9 runs of x, softmax, n = 3" $head $(yes softmax,bsp,x,3,1,, | head -n 10)
expect "--measured: a missing file is reported" 2 "no.csv" howmany compare --dry-run --measured no.csv

# ---- --dry-run -------------------------------------------------------------------------------
check "the default is 4 tasks, 5 platforms and 3 numbers of workers" bash -c '[ "$(howmany compare --dry-run | wc -l)" = 60 ]'
check "the platform server means bsp, ssp and async" bash -c '[ "$(howmany compare --dry-run --platforms server --tasks softmax -n 2 | grep -c -- --platform=server)" = 3 ]'
whole_batches() { # rows that do not fill a mini-batch would make all mini-batches smaller
  is "$(howmany compare --dry-run --tasks logistic -n 3 --platforms bsp | grep -o -- '--data=[^ ]* \|--batch=[^ ]*' | tr -d '\n')" "--data=dense:9900x10000 --batch=300" &&
    is "$(howmany compare --dry-run --tasks logistic -n 3 --platforms driver | grep -o -- '--data=[^ ]*')" "--data=dense:10000x10000"
}
check "mini-batches have the given rows, and a driver has all rows" whole_batches
check "--data selects the folder of MNIST" bash -c 'howmany compare --dry-run -d /no/mnist --tasks softmax -n 1 --platforms bsp | grep -q -- --data=/no/mnist'

# ---- real ranks ------------------------------------------------------------------------------
if [ "$mpi" ]; then
  real() {
    howmany compare --real --tasks softmax -n 1,2 --rows 200 -b 20 -i 5 --platforms driver,bsp,allreduce --json >real.json &&
      jq -e '(.simulated | not) and .cluster == null and ([.tasks[].runs[] | .samples_per_s > 0 and .worker.cpu > 0 and .worker.memory_bytes > 1e6] | all) and
        ([.tasks[].runs[] | select(.platform != "allreduce") | .server.memory_bytes > 1e6 and .server.received_bytes_per_s > 0] | all) and
        ([.tasks[].runs[] | select(.platform == "allreduce") | .server == null] | all) and (.tasks[0].runs | length) == 6' real.json
  }
  check "real ranks report their processor time and memory" real
  counts() { # bytes in and out of all ranks are the trace's bytes, on each platform
    for way in "-a sgd -b 20" "--platform driver" "--platform server --servers 2 -b 20"; do
      howmany train -n 2 $way -p squares -d dense:200x40 -i 4 --look-every 2 --usage | jq -se '[.[] | select(.iteration) |
        (([.rank_sent[], 0] | add) * .seconds / .bytes - 1 | fabs < 1e-9) and (([.rank_received[], 0] | add) * .seconds / .bytes - 1 | fabs < 1e-9)] | length == 2 and all' || return 1
    done
  }
  check "ranks receive as many bytes as others send" counts
  expect "missing data is reported" 2 "/no/mnist" howmany compare --real -d /no/mnist --tasks softmax -n 1 --platforms allreduce
  expect "a failed run is reported" 2 "compare: a run failed: howmany train -n1" howmany compare --real -d /no/mnist --tasks softmax -n 1 --platforms allreduce
else
  skip "real ranks" "built without MPI"
fi

if [ -z "$sim" ]; then
  skip "platforms on a simulated cluster" "built without SimGrid, or with sanitizers"
  finish
fi

# ---- usage of ranks against closed forms -----------------------------------------------------
usage="howmany train -n 3 -p squares -d dense:600x2000 -i 4 --look-every 2 --usage --simulate $m4"
near='def near($a; $b; $e): ($a / $b - 1 | fabs) <= $e;'
served() { # messages of 64 bytes plus a gradient or w
  $usage --platform server --servers 2 -b 60 >served && jq -se "$near"' [.[] | select(.iteration) |
    ([.rank_sent[:3][], .rank_received[:3][] | near(. * $s; 16128; 1e-9)] | all) as $workers | ([.rank_sent[3:][], .rank_received[3:][] | near(. * $s; 24192; 1e-9)] | all) as $servers | $workers and $servers] | all' --argjson s "$(jq -s 'map(select(.iteration))[0].seconds' served)" served
}
check "servers and workers exchange messages" served
check "the busiest worker computes for compute_s" jq -se "$near"'[.[] | select(.iteration) | near([.rank_compute[:3][]] | max; .compute_s / .seconds; 1e-9)] | all' served
check "the memory of a worker is its rows, that of a server its part of w" jq -se '[.[] | select(.iteration) | (.rank_memory[:3][] | . > 200 * 2000 * 8 and . < 1.1 * 200 * 2000 * 8), (.rank_memory[3:][] | . > 8000 and . < 300000)] | all' served
ring() { $usage -a sgd -b 60 --scheme ring | jq -se "$near"'[.[] | select(.iteration) | .seconds as $s | .rank_sent[], .rank_received[] | near(. * $s; 2 * 2 / 3 * 8 * 2001; 1e-3)] | all'; }
check "a ring sends 2(n-1)/n of w, and receives as much" ring
balanced() { for way in "--platform driver -a gd" "--platform server -b 60 --consistency async" "-a sgd -b 60"; do
  $usage $way | jq -se "$near"'[.[] | select(.iteration) | near(([.rank_sent[]] | add) * .seconds; .bytes; 1e-9)] | all' || return 1
done; }
check "on each platform the bytes of the ranks add up to those of the trace" balanced
unchanged() { $usage --platform server -b 60 >with && ${usage/ --usage/} --platform server -b 60 >without && cmp <(jq -c 'del(.time, .memory_bytes, .rank_compute, .rank_sent, .rank_received, .rank_memory)' with) <(jq -c 'del(.time, .memory_bytes)' without); }
check "reporting usage does not change the results" unchanged

# ---- the comparison --------------------------------------------------------------------------
all_rows=100 batch=20
if in_torture; then all_rows=300 batch=50; fi
small="howmany compare --tasks logistic,softmax --rows $all_rows -b $batch -i 10"
$small --json >all.json
check "the result has all runs" jq -e '[.tasks[].runs | length] == [15, 15]' all.json
by_hand() { # rows of all iterations divided by their time
  jq -r '.tasks[].runs[] | select(.n == 3) | [.samples_per_s, .rows, .command] | @tsv' all.json >runs && is "$(wc -l <runs)" 10 || return 1
  while IFS=$'\t' read -r speed rows command; do
    eval "$command" | jq -se "$near"'.[-1] | near($speed; .epochs * $rows / .elapsed_s; 1e-9)' --argjson speed "$speed" --argjson rows "$rows" >/dev/null || { echo "$command"; return 1; }
  done <runs
}
check "a single howmany train gives the same figures" by_hand
check "the speed of one worker is the n-th part" jq -e "$near"'[.tasks[].runs[] | near(.samples_per_s_per_worker * .n; .samples_per_s; 1e-12)] | all' all.json
file_too() { $small --tasks softmax -n 3 --csv >a && $small --tasks softmax -n 3 --csv --simulate "$m4" >b && cmp a b && is "$(wc -l <a)" 6; }
check "the default cluster is that of the example" file_too

# Compared with plan: servers within 2 %; all-reduce within 8 %, since plan has a scheme with fewer messages;
# the driver within 15 %, since plan models Spark's torrent; async between bsp and the model, whose
# workers are spread evenly.
plan() { # PLATFORM CONSISTENCY ROWS-OF-A-WORKER n: samples a second
  cat >job.yaml <<END
compute: $3 * 4 * 10000 flop / flops
communicate: [{bytes: 80000 B, scheme: ring}]
batch: $3
scaling: weak
END
  howmany plan job.yaml --on "$m4" --platform "$1" $([ "$1" = server ] && echo --servers 1 --consistency "$2") --max-n "$4" --json | jq "$3 * $4 / (.curve[] | select(.n == $4) | .time_s)"
}
run_speed() { jq --arg p "$1" --arg c "$2" --argjson n "$3" '.tasks[0].runs[] | select(.platform == $p and .consistency == $c and .n == $n) | .samples_per_s' all.json; }
within() { jq -ne "$near near(\$a; \$b; \$e)" --argjson a "$1" --argjson b "$2" --argjson e "$3" >/dev/null || { echo "$1 and $2"; return 1; }; }
as_planned() { # PLATFORM WITHIN ROWS-AT-n…
  for n in 3 5; do within "$(run_speed "$1" bsp $n)" "$(plan "$1" bsp "$([ "$1" = driver ] && echo $((all_rows / n)) || echo $batch)" $n)" "$2" || return 1; done
}
check "plan predicts servers within 2 %" as_planned server 0.02
check "plan predicts all-reduce within 8 %" as_planned allreduce 0.08
check "plan predicts a driver within 15 %" as_planned driver 0.15
async() { jq -ne '$b * 0.999 < $a and $a < $m * 1.02' --argjson a "$(run_speed server async 5)" --argjson b "$(run_speed server bsp 5)" --argjson m "$(plan server async $batch 5)"; }
check "async is between bsp and what spread workers would reach" async

rows_do_not_matter() { # for mini-batches
  for rows in 300 900; do howmany compare --tasks softmax --rows $rows -b 50 -i 10 -n 3 --platforms bsp,allreduce --json | jq -c '[.tasks[].runs[].samples_per_s * 1e6 | round]'; done | uniq | wc -l | grep -qx 1
}
check "samples/s of mini-batches do not depend on rows" rows_do_not_matter
rows_of_driver() { # the estimate for all rows from few rows, against a run with all rows
  howmany compare --tasks softmax --rows 1200 -b 50 -n 3 -i 10 --platforms driver --json | jq '.tasks[0].runs[0].samples_per_s_all_rows' >few
  howmany compare --tasks softmax -n 3 -i 10 --platforms driver --json | jq '.tasks[0].runs[0] | .samples_per_s, .samples_per_s_all_rows' >many
  within "$(cat few)" "$(head -n 1 many)" 0.01 && is "$(tail -n 1 many | cut -c1-12)" "$(head -n 1 many | cut -c1-12)"
}
torture "the speed of a driver with all rows is predicted within 1 %" rows_of_driver

published() { # Tables 1 and 3 of the survey
  howmany compare --rows 100 -b 20 -n 1 -i 1 --platforms allreduce --json >p.json &&
    is "$(jq -c '[.tasks[] | [.task, [.published[].samples_per_s]]]' p.json)" '[["logistic",[5883,403,443,19277,19283,21132]],["softmax",[424600,113787,221853,149759,259076]],["one-layer",[24303,23485,24383,27099,25644]],["two-layers",[9133,15283,16122,22206,18511]]]' &&
    is "$(jq -c '[.tasks[].parameters]' p.json)" '[10000,7840,101770,109386]'
}
check "the published figures are shown" published
same_again() { # the runs on 3 workers, without the fields of the whole comparison
  $small --tasks softmax -n 3 --json | jq -c '.tasks[0].runs[] | del(.command)' >x && test "$(wc -l <x)" = 5 &&
    jq -c '.tasks[1].runs[] | select(.n == 3) | del(.command)' all.json | cmp - x
}
check "a second run gives the same bytes" same_again
text() {
  ${small/-i 10/-i 2} -n 3 >text && is "$(grep -c '^  fastest  ' text)" 2 && is "$(grep -c '^  driver .* Spark' text)" 2 && grep -q '^  server    bsp .*TensorFlow 403, 443 (batch 500), MXNet 19277' text &&
    grep -q 'generated digits, like MNIST' text && grep -q "a driver's samples/s depend on rows: with 10000" text && ! grep -q "nan" text
}
check "the table has all platforms" text
ahead() { # the driver is faster than all-reduce with all rows, and slower with few
  howmany compare --tasks softmax --rows 300 -b 100 -n 3 -i 5 --platforms driver,allreduce >text && grep -q '^  fastest .*allreduce on 3' text && tr -s '\n ' ' ' <text | grep -q 'and be the fastest'
}
check "a note says that few rows slow down the driver" ahead
measured() { # the median of three runs, two of which have seconds and a batch; one failed; another task is not shown
  printf '%s\n' $head,status "softmax,allreduce,PyTorch DDP,3,,0.5,150," "softmax,allreduce,PyTorch DDP,3,700,,,ok" "softmax,allreduce,PyTorch DDP,3,,0.1,50,ok" \
    "softmax,allreduce,PyTorch DDP,3,9,,,exit 1" softmax,driver,Spark,2,40,,, logistic,bsp,TensorFlow,3,1,,, >m.csv
  local command="howmany compare --tasks softmax --rows 300 -b 50 -i 5 -n 3 --platforms allreduce --measured m.csv"
  $command --json >m.json && $command --csv >m.out && $command >text &&
    is "$(jq -c '.tasks[0].measured[] | [.system, .platform, .n, .runs, .samples_per_s, .samples_per_s_per_worker * 3]' m.json | tr '\n' ' ')" \
      '["PyTorch DDP","allreduce",3,3,500,500] ["Spark","driver",2,1,40,60] ' &&
    jq -e "$near"'.tasks[0] | near(.measured[0].ratio * .runs[0].samples_per_s; 500; 1e-9) and .measured[1].ratio == null' m.json >/dev/null &&
    grep -Eq '^  allreduce +3 +500 +167 .* PyTorch DDP, median of 3 runs$' text && grep -Eq '^  driver +2 +40 +20 +- +Spark$' text && ! grep -q TensorFlow text &&
    is "$(awk -F, '{ print NF }' m.out | sort -u)" 21 && is "$(cut -d, -f1,3,5,8,21 m.out | tail -n 2 | tr '\n' ' ')" "softmax,allreduce,3,500,PyTorch DDP softmax,driver,2,40,Spark "
}
check "measured frameworks are shown beside the runs" measured
over_time() { jq -e '[.tasks[].runs[] | select(.consistency == "bsp" and .platform != "driver") | .over_time | length == 5 and .[-1].elapsed_s > .[0].elapsed_s and ([.[].worker.compute] | min > 0)] | all' all.json; }
check "--json has usage over time" over_time
limits() { # with a slow network the server's link limits, with a fast one computation
  is "$(howmany compare --tasks softmax --rows 250 -b 50 -n 5 -i 5 --platforms bsp --set fabric.bandwidth=10Mbit/s --json | jq -r '.tasks[0].runs[0].limited_by')" "server link" &&
    is "$(howmany compare --tasks softmax --rows 250 -b 50 -n 5 -i 5 --platforms bsp --set fabric.bandwidth=100Gbit/s --set fabric.latency=1us --json | jq -r '.tasks[0].runs[0].limited_by')" compute
}
check "the limit of each platform is reported" limits
more_servers() { jq -ne '$b > 2.5 * $a' --argjson a "$(howmany compare --tasks logistic --rows 250 -b 50 -n 5 -i 5 --platforms bsp --csv | tail -n 1 | cut -d, -f8)" --argjson b "$(howmany compare --tasks logistic --rows 250 -b 50 -n 5 -i 5 --platforms bsp --servers 5 --csv | tail -n 1 | cut -d, -f8)"; }
check "five servers for five workers are faster" more_servers
recorded() { howmany compare --tasks softmax --rows 100 -b 20 -n 1,2 -i 4 --platforms bsp,driver --record t.jsonl >/dev/null && is "$(grep -c '"summary"' t.jsonl)" 4; }
check "traces are recorded" recorded
if [ "${HM_SQLITE:-1}" = 1 ]; then
  check "traces are recorded in a store" bash -c 'howmany compare --tasks softmax --rows 100 -b 20 -n 1,2 -i 4 --platforms bsp --record t.db >/dev/null && [ "$(howmany runs list --record t.db --csv | wc -l)" -gt 2 ]'
fi
if command -v gnuplot >/dev/null; then
  check "--plot writes a picture" bash -c 'howmany compare --tasks softmax --rows 100 -b 20 -n 1,2 -i 4 --plot p.svg >/dev/null && grep -q "</svg>" p.svg && grep -q "allreduce" p.svg'
  check "--plot draws measured frameworks" bash -c 'howmany compare --tasks softmax --rows 300 -b 50 -i 5 -n 3 --platforms allreduce --measured m.csv --plot m.svg >/dev/null && grep -q "measured frameworks" m.svg'
fi
if [ -d "$data/mnist" ] && [ "$HM_ZLIB" = 1 ]; then
  torture "runs on MNIST itself" bash -c "howmany compare -d '$data/mnist' --tasks softmax -n 1 --platforms bsp -i 2 | grep -q '60000 rows of 784 features (MNIST)'"
fi

interrupted() {
  howmany compare --tasks logistic --rows 2000 -n 3 -b 77 >out 2>said &
  local pid=$!
  wait_for 30 pgrep -f 'smpimain.*(--batch=231|dense:2000x10000)' || { echo "it never ran"; return 1; }
  kill -TERM $pid
  wait $pid
  is $? 130 && grep -q interrupted said && [ ! -s out ] && ! pgrep -f 'dense:2000x10000|--batch=231'
}
check "after a signal no process is left" interrupted
finish
