#!/usr/bin/env bash
# Tests howmany import: recognising formats, writing, recording; and other commands that accept files of other tools.
. "$(dirname "$0")/lib.sh"

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  local name=$1 filter=$2
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}

cat >"$work/config.json" <<'EOF'
{"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "hidden_size": 4096, "intermediate_size": 14336,
 "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8,
 "num_experts_per_tok": 2, "vocab_size": 32000, "tie_word_embeddings": false}
EOF
steps() { # MILLISECONDS: prints a log of nanoGPT with steps of this length
  for i in 0 10 20 30 40 50 60 70 80 90 100; do
    echo "iter $i: loss $(awk -v i=$i 'BEGIN { print 10 / (1 + i / 20) }'), time $1ms, mfu 1.00%"
  done
}
mkdir -p "$work/logs"
for n in 1 2 4 8; do
  steps "$((1000 / n + 20)).00" >"$work/logs/run_n$n.log"
done
steps 100.00 >"$work/train.log"

i() { howmany import "$@"; }
expect "a configuration is recognised" 0 "46702792704 parameters of the network" i "$work/config.json"
expect "active parameters are shown" 0 "12879925248 parameters active for one token" i "$work/config.json"
check "a network is written" sh -c "howmany import $work/config.json -o $work/net.yaml && grep -q 'kind: transformer' $work/net.yaml && grep -q 'experts_per_token: 2' $work/net.yaml"
i "$work/config.json" --json >"$work/out.json"
check "facts are JSON" jq -e '.files[0] | .format == "hf-config" and .facts.parameters == 46702792704 and .partial == false' "$work/out.json"
head -c 150 "$work/config.json" >"$work/cut.json"
expect "a cut file is partial, with exit 0" 0 ", partial" i "$work/cut.json"
expect "missing workers are asked for by name" 0 "is not in the file: set n=8" i "$work/train.log"
expect "a table without workers is not written" 2 "n, the number of workers, is not in the file" i "$work/train.log" -o -
check "workers that are given are written" sh -c "howmany import $work/train.log --set n=16 -o - | sed -n 2p | grep -qx '16,0.1'"
for n in abc 0 1.5 1e300 9007199254740993 ""; do
  expect "workers that are given as '$n' are refused" 2 "--set: n: '$n' is not a whole number of at least 1" i "$work/train.log" --set "n=$n" -o -
done
expect "so is a property without a value" 2 "--set: 'n' is not NAME=VALUE" i "$work/train.log" --set n
cp "$work/train.log" "$work/run_n99999999999999999999.log"
expect "and a file name with too many workers gives none" 0 "is not in the file: set n=8" i "$work/run_n99999999999999999999.log"
expect "workers come from file names, with a note" 0 "n = 4 comes from the file name" i "$work/logs/run_n4.log"
check "a folder is one table" sh -c "test \$(howmany import $work/logs -o - | wc -l) = 41"
check "traces are written on request" sh -c "howmany import $work/logs --to traces -o - | head -n 1 | grep -qx n,iteration,loss,seconds"
expect "an unknown file gives exit 2 and the formats" 2 "the nearest formats are" i LICENSE
expect "a folder without known files gives exit 2" 2 "none of 6 files has a format" i catalog
expect "an unknown format is suggested" 2 "did you mean nanogpt?" i "$work/train.log" --as nanogtp
expect "a forced format that does not fit is read as far as it goes" 0 "Spark event log (spark)" i "$work/train.log" --as spark
expect "no file is an error" 2 "no file is given" i
expect "a missing file is an error" 2 "cannot open" i "$work/none"
if [ "$HM_SQLITE" = 1 ]; then
  expect "runs are recorded" 0 "40 runs recorded" i "$work/logs" --record "$work/s.db"
  expect "the store has them" 0 "seconds" howmany runs list --record "$work/s.db"
fi

# other commands
howmany import "$work/logs" -o "$work/runs.csv" >/dev/null
expect "fit reads the table" 0 "40 runs" howmany fit "$work/runs.csv"
expect "converge reads a folder of logs" 0 "10 / i" sh -c "howmany converge $work/logs >/dev/null && echo '10 / i'"
expect "fit names what is missing in a log" 2 "n, the number of workers" howmany fit "$work/train.log"
expect "facts about a log are set" 2 "runs of one configuration cannot show" howmany fit "$work/train.log" --set n=16
expect "fit reads a folder of logs" 0 "40 runs" howmany fit "$work/logs"
expect "plan takes times from a folder of logs" 0 "workers: " howmany plan --runs "$work/logs" --no-chart
expect "plan reads a configuration and says what it assumes" 0 "assumed, because the file does not say it: sequence 2048, batch 4M tokens" howmany plan "$work/config.json" --on p5.48xlarge --max-n 128 --no-chart
check "a value that is given is not assumed" sh -c "howmany plan $work/config.json --on p5.48xlarge --max-n 128 --no-chart --batch 256 | grep -qx '  note         assumed, because the file does not say it: sequence 2048'"
expect "advise chooses a target" 0 "no target was given: 1.66667 is the smallest loss that every trace reaches" howmany advise "$work/logs"
expect "advise names what is missing in a log" 2 "n, the number of workers" howmany advise "$work/train.log"
expect "advise takes facts about a log" 0 "Use 16 workers" howmany advise "$work/train.log" --set n=16
expect "other assignments need a job" 2 "this needs a job" howmany advise "$work/logs" --set batch=16
expect "a saved fit needs a target" 2 "no target is given" sh -c "howmany converge $work/logs --save $work/fit.json >/dev/null && howmany advise $work/fit.json"
expect "facts without a log are refused" 2 "'n=8' has no effect" howmany plan examples/fig2-spark-ann.yaml --set n=8
expect "converge takes facts about a log" 0 "m = 16" howmany converge "$work/train.log" --set n=16

# a Spark log in which one job repeats, on 1, 2 and 4 executors
python3 - "$work" <<'EOP'
import json, sys
for n in (1, 2, 4):
    t, out = 1000, [{"Event": "SparkListenerLogStart", "Spark Version": "3.5.0"}]
    for e in range(n):
        out.append({"Event": "SparkListenerExecutorAdded", "Timestamp": t, "Executor ID": str(e), "Executor Info": {"Host": "h", "Total Cores": 2}})
    for job in range(4):
        out.append({"Event": "SparkListenerJobStart", "Job ID": job, "Submission Time": t, "Stage Infos": [{"Stage ID": job, "Stage Name": "treeAggregate at G.scala:1"}]})
        end = t + 8000 // n + 500
        out.append({"Event": "SparkListenerTaskEnd", "Stage ID": job, "Stage Attempt ID": 0, "Task End Reason": {"Reason": "Success"}, "Task Info": {"Task ID": job, "Launch Time": t, "Finish Time": end}, "Task Metrics": {"Executor Run Time": 16000}})
        out.append({"Event": "SparkListenerJobEnd", "Job ID": job, "Completion Time": end, "Job Result": {"Result": "JobSucceeded"}})
        t = end
    with open(f"{sys.argv[1]}/events_{n}", "w") as f:
        f.writelines(json.dumps(e) + "\n" for e in out)
EOP
mkdir "$work/spark"
for n in 1 2 4; do mv "$work/events_$n" "$work/spark/app-$n"; done
expect "fit reads Spark logs" 0 "12 runs" howmany fit "$work/spark"
expect "plan takes times from a Spark log" 0 "an iteration" howmany plan --runs "$work/spark" --no-chart
expect "plan corrects the job of a Spark log by its runs" 0 "an iteration" howmany plan "$work/spark/app-2" --runs "$work/spark" --no-chart
expect "plan does not take a benchmark for a job" 2 "gives no network and no job" sh -c "printf '# nThread 1\n1024 256 float sum -1 1 1 1 0 1 1 1 0\n' >$work/nccl.log; howmany plan $work/nccl.log"

# a run of MLflow, and platforms as machines
run="$work/mlruns/0/abc"
mkdir -p "$run/metrics/train" "$run/params"
echo "experiment_id: 0" >"$work/mlruns/0/meta.yaml"
printf 'end_time: 1700000100500\nstart_time: 1700000000000\nstatus: 4\n' >"$run/meta.yaml"
for k in 1 2 3 4 5 6 7 8 9 10; do echo "$((1700000000000 + k * 2500)) 0.$((90 - k * 5)) $((k * 10))"; done >"$run/metrics/train/loss"
cp "$run/metrics/train/loss" "$run/metrics/accuracy"
: >"$run/metrics/empty"
printf 8 >"$run/params/world_size"
expect "a run of MLflow is one import" 0 "10 points of 1 losses as traces" i "$work/mlruns"
expect "the state of a run is shown" 0 "its state is FAILED" i "$run"
check "workers and times of a run are found" sh -c "howmany import $run --json | jq -e '.files[0] | .runs == [{n: 8, seconds: 0.25}] and .facts.seconds == 100.5 and .traces[1].iteration == 20'"
cat >"$work/platform.xml" <<'EOF'
<platform version="4.1"><zone id="z"><cluster id="c" radical="0-31" speed="200Gf" bw="1Gbps" lat="20us"/></zone></platform>
EOF
expect "a platform of SimGrid is a machine" 0 "platform.xml" howmany plan examples/fig2-spark-ann.yaml --on "$work/platform.xml" --no-chart
expect "a log is no machine" 2 "nanoGPT log gives no cluster" howmany plan examples/fig2-spark-ann.yaml --on "$work/train.log"

# runs in the formats of other tools
if [ "$HM_SQLITE" = 1 ]; then
  printf '# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)\n4 18.5\n1024 20.25\n1048576 7660.03\n' >"$work/osu.txt"
  i "$work/osu.txt" --set n=16 --record "$work/osu.db" >/dev/null
  howmany runs export --record "$work/osu.db" --format osu >"$work/osu2.txt"
  i "$work/osu.txt" --set n=16 --to runs -o "$work/osu.csv" >/dev/null
  i "$work/osu2.txt" --set n=16 --to runs -o "$work/osu2.csv" >/dev/null
  check "runs of messages come back from a table of OSU" cmp "$work/osu.csv" "$work/osu2.csv"
  expect "other runs are no table of OSU" 2 "no run has the columns collective and bytes" howmany runs export --record "$work/s.db" --format osu
  expect "a log of MLPerf has one run" 2 "a log of MLPerf has one run, not 3" howmany runs export --record "$work/osu.db" --format mllog
  i "$work/logs/run_n4.log" --to traces --record "$work/ml.db" >/dev/null
  howmany runs export --record "$work/ml.db" --format mllog >"$work/mllog.txt"
  check "a trace comes back from a log of MLPerf" sh -c "howmany import $work/mllog.txt --json | jq -e '.files[0] | .format == \"mllog\" and .runs[0].n == 4 and ([.traces[].loss] | length) == 10 and .traces[9].loss == 1.66667'"
  made=$(howmany runs export --record "$work/ml.db" --json | jq -r .made_at)
  check "times of a log of MLPerf count from the run" grep -q "\"time_ms\":$(date -u -d "$made" +%s)000,.*run_start" "$work/mllog.txt"
  # The grammar of MLPerf's own parser: the token, then an object with a time, a key, a value and metadata.
  check "lines of a log of MLPerf have its grammar" jq -Rse 'split("\n")[:-1] | all(.[]; startswith(":::MLLOG ")) and ([.[][9:] | fromjson] |
    all(.[]; keys == ["event_type", "key", "metadata", "namespace", "time_ms", "value"] and (.time_ms | . == floor) and (.metadata | type) == "object"
      and (.event_type | IN("INTERVAL_START", "INTERVAL_END", "POINT_IN_TIME"))) and ([.[].time_ms] | . == sort)
    and ([.[].key] | index("run_start") < index("run_stop")) and .[-1].metadata.status == "success")' "$work/mllog.txt"
  printf 'n,seconds\n8,116.936\n' >"$work/one.csv"
  howmany runs import "$work/one.csv" --record "$work/one.db" >/dev/null
  howmany runs export --record "$work/one.db" --format mllog >"$work/one.txt"
  check "a run without iterations comes back with its time" sh -c "howmany import $work/one.txt --json | jq -e '.files[0].runs[0] | .n == 8 and .seconds == 116.936'"
  logs=${HOWMANY_DATA:-$HM_SOURCE/../shared/data}/formats/mllog
  if [ ! -d "$logs" ]; then
    skip "real logs of MLPerf" "no $logs (set HOWMANY_DATA)"
  else
    for log in "$logs"/*.txt; do
      rm -f "$work/real.db" && howmany import "$log" --to traces --set n=8 --record "$work/real.db" >/dev/null 2>&1
      howmany runs export --record "$work/real.db" --format mllog >"$work/real.txt"
      points() { howmany import "$1" --set n=8 --json | jq -c '[.files[0].traces[] | [.iteration, .loss]]'; }
      check "$(basename "$log") comes back from the store" test "$(points "$log")" = "$(points "$work/real.txt")"
    done
  fi
  expect "a format excludes other forms" 2 "format excludes json, csv and traces" howmany runs export --record "$work/ml.db" --format osu --json
fi

# a plan in the formats of other tools
howmany plan examples/fig3-inception.yaml --n 50 --json >"$work/plan.json"
howmany plan examples/fig3-inception.yaml --n 50 --emit chrome >"$work/step.json"
i "$work/step.json" --json >"$work/step-facts.json"
check "a predicted step is a trace with the times of the plan" jq -ne --slurpfile p "$work/plan.json" --slurpfile t "$work/step-facts.json" '
  ($p[0].curve[] | select(.n == 50)) as $q | $t[0].files[0].facts as $f | def near($a; $b): ($a - $b | fabs) < 1e-3 * $b + 1e-2;
  near($f.step_us[0]; $q.time_s * 1e6) and near($f.gpu.compute_busy_us; $q.compute_s * 1e6) and near($f.gpu.comm_busy_us; $q.communicate_s * 1e6) and $f.world_size == 50'
howmany plan llama-3-8b --on p5.48xlarge --n 64 --emit chrome >"$work/step.json"
howmany plan llama-3-8b --on p5.48xlarge --n 64 --json >"$work/plan.json"
i "$work/step.json" --json >"$work/step-facts.json"
check "a step of a transformer is a trace with the time of the plan" jq -ne --slurpfile p "$work/plan.json" --slurpfile t "$work/step-facts.json" '($t[0].files[0].facts.step_us[0] / ($p[0].recommended.time_s * 1e6) - 1 | fabs) < 1e-6'
howmany plan examples/fig2-spark-ann.yaml --emit simgrid >"$work/emitted.xml"
check "a cluster comes back from a platform" sh -c "howmany import $work/emitted.xml --json | jq -e '.files[0].facts | .slowest_flops == 84480000000 and .bandwidth_bytes_per_s == 125000000'"
howmany plan llama-3-8b --on p5.48xlarge --n 64 --emit simgrid >"$work/emitted.xml"
check "latency and workers of a node are kept" sh -c "howmany import $work/emitted.xml --json | jq -e '.files[0].facts | .hosts == 8 and .latency_s == 1.4e-05 and .slowest_flops == 8 * 3.015e13'"
expect "emit excludes json" 2 "this is a text; leave out json and csv" howmany plan examples/fig3-inception.yaml --emit chrome --json
expect "flags of layouts need a transformer" 2 "this needs a job that trains a transformer" howmany plan examples/fig3-inception.yaml --emit megatron

# compressed files
if [ "$HM_ZLIB" = 1 ]; then
  gzip -k "$work/train.log"
  expect "a gzip file is read" 0 "nanoGPT log" i "$work/train.log.gz"
  head -c 60 "$work/train.log.gz" >"$work/half.log.gz"
  expect "a cut gzip file is partial" 0 "cut short" i "$work/half.log.gz" --as nanogpt
fi

# archives
if [ "$HM_ZLIB" = 1 ]; then
  python3 - "$work" <<'EOP'
import os, sys, zipfile
work = sys.argv[1]
with zipfile.ZipFile(f"{work}/logs.zip", "w", zipfile.ZIP_DEFLATED) as z:
    for n in (1, 2, 4, 8):
        z.write(f"{work}/logs/run_n{n}.log", f"logs/run_n{n}.log")
    z.writestr("logs/README", "four runs")
with zipfile.ZipFile(f"{work}/stored.zip", "w") as z:
    z.write(f"{work}/config.json", "config.json")
events = open(f"{work}/spark/app-2").read().splitlines(True)
for method in ("stored", "deflated"):
    with zipfile.ZipFile(f"{work}/rolling_{method}.zip", "w", zipfile.ZIP_STORED if method == "stored" else zipfile.ZIP_DEFLATED) as z:
        z.writestr("eventlog_v2_app/appstatus_app", "")
        z.writestr("eventlog_v2_app/events_10_app", "".join(events[8:]))
        z.writestr("eventlog_v2_app/events_9_app", "".join(events[:8]))
os.mkdir(f"{work}/eventlog_v2_app")
for name, text in (("events_10_app", events[8:]), ("events_9_app", events[:8])):
    open(f"{work}/eventlog_v2_app/{name}", "w").writelines(text)
whole = open(f"{work}/logs.zip", "rb").read()
open(f"{work}/cut.zip", "wb").write(whole[:150])
open(f"{work}/nodir.zip", "wb").write(whole[:whole.index(b"PK\x01\x02")])
EOP
  expect "an archive is a folder" 0 "1 other files of the folder are not recognised" i "$work/logs.zip"
  check "an archive gives the same table as a folder" sh -c "howmany import $work/logs.zip -o - | cmp - $work/runs.csv"
  expect "fit reads an archive of logs" 0 "40 runs" howmany fit "$work/logs.zip"
  expect "a member of an archive has a name" 0 "n = 4 comes from the file name" i "$work/logs.zip/logs/run_n4.log"
  expect "a missing member is an error" 2 "has no member 'logs/none'" i "$work/logs.zip/logs/none"
  expect "an archive of one file is that file" 0 "46702792704 parameters" i "$work/stored.zip"
  for log in "$work/eventlog_v2_app" "$work/rolling_stored.zip" "$work/rolling_deflated.zip"; do
    expect "a rolling log is one log: ${log##*/}" 0 "4 jobs that repeat, as runs" i "$log"
  done
  tar -C "$work" -cf "$work/logs.tar" logs
  tar -C "$work" -czf "$work/logs.tgz" logs
  tar -C "$work" -czf "$work/rolling.tar.gz" eventlog_v2_app
  tar -C "$work" --format=pax -cf "$work/rolling.tar" ./eventlog_v2_app
  for archive in logs.tar logs.tgz; do
    check "$archive gives the same table as a folder" \
      sh -c "howmany import $work/$archive -o - | sort >$work/sorted; sort $work/runs.csv | cmp - $work/sorted"
  done
  expect "a member of a compressed tar archive has a name" 0 "n = 4 comes from the file name" i "$work/logs.tgz/logs/run_n4.log"
  for archive in rolling.tar rolling.tar.gz rolling_stored.zip rolling_deflated.zip; do
    expect "a rolling log is one log: $archive" 0 "4 jobs that repeat, as runs" i "$work/$archive"
    expect "a rolling log from a pipe: $archive" 0 "4 jobs that repeat, as runs" sh -c "cat $work/$archive | howmany import -"
    expect "a rolling log from standard input: $archive" 0 "4 jobs that repeat, as runs" sh -c "howmany import - <$work/$archive"
  done
  expect "an archive of many files from a pipe must be saved" 2 "is an archive of" sh -c "cat $work/logs.tgz | howmany import -"
  expect "a log from a pipe is no archive" 0 "nanoGPT log" sh -c "cat $work/train.log | howmany import -"
  head -c 900 "$work/logs.tar" >"$work/cut.tar"
  expect "a cut tar archive is no success" 2 "" i "$work/cut.tar"
  expect "an archive without its directory is partial" 0 "run_n8.log: nanoGPT log (nanogpt), partial" i "$work/nodir.zip"
  expect "a cut archive gives what was whole" 0 "run_n1.log: nanoGPT log (nanogpt), partial" i "$work/cut.zip"
fi
expect "a pattern is a list of files" 0 "run_n8.log: nanoGPT log" i "$work/logs/run_n*.log"
expect "fit reads a pattern" 0 "40 runs" howmany fit "$work/logs/run_n*.log"
expect "a pattern without files is an error" 2 "cannot open" i "$work/logs/none*.log"
mkdir "$work/model" && cp "$work/config.json" "$work/model" && echo '{"version": "1.0"}' >"$work/model/tokenizer.json"
expect "plan takes the network of a folder" 0 "h100" howmany plan "$work/model" --on h100 --max-n 64
expect "plan takes the first job of a folder, with a note" 0 "the first of" howmany plan "$work/spark" --runs "$work/spark/app-2"
expect "a folder without a job is an error" 2 "no file of the folder gives a network or a job" howmany plan "$work/logs"
echo '{"train_batch_size": 256, "zero_optimization": {"stage": 2}, "bf16": {"enabled": true}}' >"$work/ds.json"
printf 'distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: FULL_SHARD}\nnum_machines: 2\nnum_processes: 8\n' >"$work/launch.yaml"
expect "a configuration of DeepSpeed needs a network" 2 "ds.json: network: a configuration of DeepSpeed does not name the network" howmany plan "$work/ds.json" --on h100
json "with a network it is a job" '.best.layout.zero == 2 and .best.layout.tensor == 1 and .best.layout.pipeline == 1 and .batch == 256' howmany plan "$work/ds.json" --on h100 --set network=llama-3-8b --json
json "the usual sequence of the network is noted" '.notes[0] | test("assumed as usual for llama-3-8b: sequence 8192")' howmany plan "$work/ds.json" --on h100 --set network=llama-3-8b --json
json "its layout is left out for other networks" 'any(.notes[]; test("layout of the file is used only for transformers"))' howmany plan "$work/ds.json" --on h100 --set network=resnet-50 --json
expect "hints name options" 2 "name one with --as, or see" howmany import README.md
json "a configuration of accelerate has its cluster" '.machine == "h100" and .best.n <= 8 and .best.layout.zero == 3' howmany plan "$work/launch.yaml" --on h100 --set network=llama-3-8b --json
json "with a machine of the catalog too" '.machine == "h100" and .best.n <= 8' howmany plan "$work/launch.yaml" --set cluster.machine=h100 --set network=llama-3-8b --json
mkdir -p "$work/accelerate/settings"
printf '{"train_batch_size": 64, "bf16": {"enabled": true}, "zero_optimization": {"stage": 3}, "optimizer": {"type": "Adam"}}' >"$work/launcher.json"
expect "a configuration lacks the network" 0 "set network=llama-3-8b" howmany import "$work/launcher.json"
completed() { # NETWORK OPTION…: the configuration with a network becomes a job that can be planned
  local network=$1
  shift
  howmany import "$work/launcher.json" --set network="$network" -o "$work/launched.yaml" >"$work/out" && ! grep -q missing "$work/out" &&
    howmany plan "$work/launched.yaml" "$@" --on p4d.24xlarge --json | jq -e '.status == "ok"'
}
check "with the given network, it becomes a complete job" completed llama-3-8b --tokens 1B
check "which keeps its layout" grep -q '^parallel: .*zero: 3' "$work/launched.yaml"
check "also with a network that has no layouts" completed resnet-50 --epochs 1
check "also with a network of its own" completed '{hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, vocab_size: 32000}' --tokens 1B --set sequence=2048
check "which keeps its layout, too" grep -q '^parallel: .*zero: 3' "$work/launched.yaml"
printf '{"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000}' >"$work/network.json"
check "also with a network in a file" completed "$work/network.json" --tokens 1B --set sequence=2048
check "whose layout is kept" grep -q '^parallel: .*zero: 3' "$work/launched.yaml"
json "a plan with a network in a file has the layout" '.best.layout.zero == 3' howmany plan "$work/launcher.json" --set network="$work/network.json" --tokens 1B --set sequence=2048 --on p4d.24xlarge --json
expect "a network that does not exist is an error" 2 "network: no network 'nosuch' in the catalog" howmany import "$work/launcher.json" --set network=nosuch -o "$work/refused.yaml"
expect "with the name that is meant" 2 "did you mean resnet-50?" howmany import "$work/launcher.json" --set network=resnet50 -o "$work/refused.yaml"
expect "an empty network is an error" 2 "network: '' is not the name of a network" howmany import "$work/launcher.json" --set network= -o "$work/refused.yaml"
expect "a list is no network" 2 "is not the name of a network" howmany import "$work/launcher.json" --set 'network=[resnet-50]' -o "$work/refused.yaml"
expect "keys of a network are in braces" 2 "must be in braces, on one line" howmany import "$work/launcher.json" --set 'network=name: resnet-50' -o "$work/refused.yaml"
check "no job is written for them" test ! -e "$work/refused.yaml"
printf 'distributed_type: DEEPSPEED\nnum_machines: 2\nnum_processes: 16\ndeepspeed_config:\n  deepspeed_config_file: settings/ds.json\n' >"$work/accelerate/launch.yaml"
expect "a missing file of DeepSpeed's settings is named" 0 "another file, which was not found: settings/ds.json" howmany import "$work/accelerate/launch.yaml"
printf '{"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4, "zero_optimization": {"stage": 3}}' >"$work/accelerate/settings/ds.json"
json "accelerate's configuration takes DeepSpeed's settings from their file" '.batch == 128 and .best.n <= 16 and .best.layout.zero == 3 and .best.layout.micro_batch == 2' \
  howmany plan "$work/accelerate/launch.yaml" --on h100 --set network=llama-3-8b --json
printf '# two machines\nworker-1 slots=4\n\nworker-2 slots=4' >"$work/accelerate/settings/hostfile"
json "a hostfile beside DeepSpeed's configuration is its cluster" '.batch == 64 and .best.n <= 8' howmany plan "$work/accelerate/settings/ds.json" --on h100 --set network=llama-3-8b --json
printf 'worker-1 slots=4\nworker-2 slots=8\n' >"$work/accelerate/settings/hostfile"
expect "a hostfile with different machines is left out" 0 "the hostfile: its machines are not all of one kind" howmany import "$work/accelerate/settings/ds.json"
cp "$work/ds.json" "$work/model/ds_config.json"
json "a folder with a network and its launcher is one job" '.batch == 256 and .best.layout.zero == 2 and (.notes[0] | test("the network is that of .*config.json, the layout that of .*ds_config.json"))' howmany plan "$work/model" --on h100 --max-n 64 --json
expect "errors name the imported file" 2 "config.json: cluster: no cluster is given" howmany plan "$work/config.json"
printf 'num_nodes: 2\nresources:\n  accelerators: A100:8\nrun: echo\n' >"$work/task.yaml"
expect "a task of SkyPilot is a cluster" 0 "accelerators: 8" i "$work/task.yaml" --to document -o -
piped() { # a pipe or a device is written to, never replaced by a file
  mkfifo "$work/pipe" && { timeout 20 cat "$work/pipe" >"$work/piped" & } && timeout 20 howmany import "$work/config.json" -o "$work/pipe" && wait && test -p "$work/pipe" && cmp "$work/piped" "$work/net.yaml"
}
check "a pipe gets the output and stays one" piped
linked_output() {
  echo old >"$work/old.yaml" && ln -s old.yaml "$work/link.yaml" && howmany import "$work/config.json" -o "$work/link.yaml" && test -L "$work/link.yaml" && cmp "$work/old.yaml" "$work/net.yaml"
}
check "the file that a link leads to is replaced" linked_output
echo 'hello, world of texts' >"$work/hello.txt"
expect "the nearest formats of a text" 2 "the nearest formats are megatron" i "$work/hello.txt"
printf 'a\0b' >"$work/hello.bin"
expect "the nearest formats of a binary file" 2 "the nearest formats are onnx" i "$work/hello.bin"
# models of ONNX
models=${HOWMANY_DATA:-$HM_SOURCE/../shared/data}/formats
same_plan() { # MODEL NETWORK: the plan of the exported model takes the time and the memory of the network in the catalog
  local model=$1 network=$2 value='.best | [.time_s, .memory_bytes]'
  howmany plan "$model" --on h200 --n 1 --set batch=64 --set precision=bf16 --json | jq -c "$value" >"$work/model.json" &&
    howmany plan "$network" --on h200 --n 1 --set batch=64 --set precision=bf16 --json | jq -c "$value" | cmp - "$work/model.json"
}
listed() { # MODEL PARAMETERS FLOP: the layers have these totals
  howmany plan "$1" --on h200 --n 1 --layers | grep -qE "^total +$2 +$3 "
}
if [ -d "$models/onnx_torch" ]; then
  check "a model exported for inference is planned like the network in the catalog" same_plan "$models/onnx_torch/resnet50.onnx" resnet-50
  check "a model with normalisations has layers" listed "$models/onnx/light_resnet50.onnx" 25557032 8178368512
  expect "merged normalisations are noted" 0 "were merged with 53 convolutions" i "$models/onnx_torch/resnet50.onnx"
  check "the layers of a transformer have its parameters and work" listed "$models/onnx_torch/vit_b_16.onnx" 86495464 35127656448
  check "so have those with concatenations" listed "$models/onnx_torch/densenet121.onnx" 7928936 5668323328
  check "and with channels that are shuffled" listed "$models/onnx/light_shufflenet.onnx" 1393320 249329056
  expect "what layers cannot describe is noted" 0 "layers cannot describe" i "$models/onnx/conv_qdq_external.onnx"
else
  skip "models of ONNX" "no $models/onnx_torch (set HOWMANY_DATA)"
fi
cp examples/config-llama-3-8b.json "$work/own.json"
expect "an import does not replace its own file" 2 "--output: $work/./own.json is a file that is imported" howmany import "$work/own.json" -o "$work/./own.json"
check "which stays" cmp examples/config-llama-3-8b.json "$work/own.json"
finish
