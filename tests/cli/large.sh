#!/usr/bin/env bash
# Tests howmany plan for transformers, and howmany validate --llm.
. "$(dirname "$0")/lib.sh"

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  local name=$1 filter=$2
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}

has() { # NAME TEXT COMMAND…: the output of the command contains the text
  local name=$1 text=$2
  shift 2
  "$@" >"$work/out" 2>"$work/err"
  check "$name" grep -qF -- "$text" "$work/out"
}

job=examples/llama-3-70b.yaml
json "an answer for exactly n" '.best.n == 64 and .best.time_s > 0 and .best.low_s < .best.time_s and
  .best.high_s > .best.time_s and .best.memory_bytes > 1e10 and .status == "ok" and
  (.best.layout | .tensor * .pipeline * .context * .data) == 64' howmany plan $job --n 64 --json
json "the layout is given" '.best.layout.tensor == 4 and .best.layout.pipeline == 8 and .best.layout.interleave == 5' \
  howmany plan $job --n 64 --set parallel.tp=4 --set parallel.pp=8 --set parallel.vpp=5 --json
json "an answer when memory does not suffice" '.status == "unreached" and .best.fits == false and
  .best.time_s > 0 and .best.memory_bytes > .best.memory_limit_bytes' howmany plan $job --n 8 --json
json "parts add up to the step" '(.best.parts | .compute_s + .head_s + .tensor_s + .expert_s + .context_s + .bubble_s +
  .message_s + .data_s + .optimizer_s + .other_s) / .best.time_s | . > 0.9999 and . < 1.0001' howmany plan $job --n 512 --json
json "memory adds up to the total" '([.best.memory[]] | add) / .best.memory_bytes | . > 0.9999 and . < 1.0001' \
  howmany plan $job --n 512 --json
json "a deadline is met at the least cost" '.best.total_s <= 300 * 86400 and .best.fits and .best.meets >= 0.9 and .goal == "cost" and
  .certainty == 0.9' howmany plan $job --deadline 300d --json
json "a deadline is not met at the median" '.status == "unreached" and .missed == "deadline" and .nearest.meets > 0.5 and .nearest.meets < 0.9 and
  .nearest.total_s < 200 * 86400 and .nearest_gap > 1' howmany plan $job --deadline 200d --json
json "the best is the optimum, the recommended the fewest within the slack" '.best.time_s as $b | .best.time_s == ([.curve[] | select(.fits).time_s] | min) and
  .recommended.n == ([.curve[] | select(.fits and .time_s <= 2.5 * $b).n] | min) and .recommended.n < .best.n' howmany plan $job --slack 150% --json
json "alternatives of transformers" '.alternatives | .cheapest.cost <= .balanced.cost and .fastest.time_s <= .balanced.time_s and .cheapest.machine == "p5.48xlarge"' \
  howmany plan $job --json
has "the first line has machines, time and money" "Use 128 x p5.48xlarge (1024 GPUs): 158 days, \$26,730,435." howmany plan $job
has "a deadline of a transformer has a probability" "meets the deadline of 300 days with 98 % (asked 90 %)" howmany plan $job --deadline 300d
# The means over the scaling laws (advise) and their median (plan) must agree up to a quarter.
printf 'network: llama-3-8b\nsequence: 4096\nbatch: 512 sequences\ncluster: {machine: dgx-h100, max_nodes: 8}\n' >"$work/laws.yaml"
planned=$(howmany plan "$work/laws.yaml" --loss 2.1 --json | jq .iterations)
advised=$(howmany advise --job "$work/laws.yaml" --reach 2.1 --json | jq .best.iterations)
check "advise and plan agree on scaling laws" jq -en "$advised / $planned | . > 0.8 and . < 1.25"
json "machines are compared" '[.curve[].machine] | unique | length == 2' \
  howmany plan $job --on p5.48xlarge,p4d.24xlarge --json
has "one line of CSV per n" "p5.48xlarge,64,8,8,1,1,1,1,8,1,2,none,yes," howmany plan $job --csv
has "flags of Megatron" "--pipeline-model-parallel-size 8" howmany plan $job --n 64 --set parallel.pp=8 --emit megatron
json "a file for DeepSpeed" '.train_batch_size == .train_micro_batch_size_per_gpu * .gradient_accumulation_steps * 8' \
  howmany plan $job --n 64 --set parallel.tp=8 --set parallel.pp=1 --emit deepspeed
has "a file for torchtitan" "tensor_parallel_degree = 8" howmany plan $job --n 64 --set parallel.tp=8 --emit torchtitan
has "a file for accelerate" "num_processes: 64" howmany plan $job --n 64 --emit accelerate
has "a command for torchrun" "--nnodes 8 --nproc-per-node 8" howmany plan $job --n 64 --emit torchrun
has "a script for Slurm" "#SBATCH --nodes=8" howmany plan $job --n 64 --emit sbatch
cat >"$work/loss.yaml" <<'END'
network: llama-3-8b
sequence: 8192
batch: 4M tokens
cluster: {machine: p5.48xlarge, max_nodes: 128}
END
howmany plan "$work/loss.yaml" --loss 2.1 --json >"$work/loss.json"
printf 'n,seconds,tp,pp,zero\n64,80,8,1,2\n' >"$work/one.csv"
howmany plan $job --n 64 --set parallel.zero=2 --json >"$work/without.json"
json "one measured step corrects a plan" 'input.best as $w | .provenance == "model and runs" and (.best | .high_s / .low_s) < ($w | .high_s / .low_s) and .best.time_s > 1.05 * $w.time_s' \
  sh -c "howmany plan $job --n 64 --set parallel.zero=2 --runs '$work/one.csv' --json && cat '$work/without.json'"
json "rates of a run, and its own layout" '.provenance == "model and runs"' sh -c "printf 'n,tokens_per_s\n64,55000\n' | howmany plan $job --n 512 --runs - --json"
run howmany plan $job --runs "$work/one.csv" --on p5.48xlarge,p4d.24xlarge
check "runs belong to one machine" test "$code" -eq 2
json "offload makes a job fit" '.best.fits and .best.layout.offload == "optimizer" and .best.memory.optimizer_bytes == 0' \
  howmany plan "$work/loss.yaml" --n 1 --set parallel.offload=optimizer --json
json "a torus of chips" '.best.n == 256 and .best.nodes == 256' howmany plan "$work/loss.yaml" --on TPU-v5p --set torus=8x8x4 --json
has "distances from the least loss are explained" "is a loss of 2.100" howmany advise --job "$job" --reach 2.1
json "chunks of stages choose a pipeline" '.best.layout | .interleave == 2 and .pipeline > 1' howmany plan "$job" --n 64 --set parallel.interleave=2 --json
json "a precision without units is noted" '[.notes[] | select(test("no units for nvfp4"))] | length == 1' howmany plan "$job" --n 64 --set precision=nvfp4 --json
json "with fp8 in use, no lower precision is advised" '.limit.why == "faster devices"' howmany plan "$job" --n 64 --set precision=fp8 --json
json "8-bit adam has several names" '.best.memory_bytes > 0' howmany plan "$job" --n 64 --set optimizer="8-bit adam" --json
json "what surrounds a layout" '.room.micro_batch >= 1 and .room.sequence >= 8192 and (.changes | map(.what) | unique) == ["batch", "precision", "sequence"]' \
  howmany plan "$work/loss.yaml" --n 64 --json
json "advice without traces follows scaling laws" '.candidates[0] as $c | input.recommended.total_s as $t | $c.algorithm == "scaling laws" and
  $c.n == 1024 and $c.low_s < $t and $t < $c.high_s and (.notes | any(contains("scaling laws of Hoffmann")))' \
  sh -c "howmany advise --job '$work/loss.yaml' --reach 2.1 --json && cat '$work/loss.json'"
run howmany advise --job "$work/loss.yaml" --loss 0.1
check "scaling laws take the loss itself" test "$code" -eq 2
json "traces with the times of a transformer" '.candidates | length > 0 and all(.[]; .iteration_s > 0)' \
  howmany advise examples/mnist-traces.csv.gz --loss 1e-3 --job "$work/loss.yaml" --json
json "a budget gives parameters and tokens" '.outlook.loss < 2.1 and .parameters > 1e10 and .tokens > 1e11 and (.sizes | length) > 20 and
  ([.sizes[].loss] | min) as $l | [.sizes[] | select(.loss == $l)][0].parameters == .parameters' \
  howmany plan "$work/loss.yaml" --params auto --budget '$1M' --json
has "flags of the scaled network" "--num-layers 68" howmany plan "$work/loss.yaml" --params 60B --tokens 1T --n 512 --emit megatron
run howmany plan "$work/loss.yaml" --params 0.5
check "a number of parameters is checked" test "$code" -eq 2
run howmany plan examples/fig1.yaml --loss 2
check "losses need a transformer" test "$code" -eq 2
howmany plan $job --n 64 --set parallel.tp=8 --set parallel.pp=1 --set parallel.zero=2 --emit deepspeed >"$work/ds.json"
json "the importer reads what was emitted" '.files[0].facts.zero_stage == 2 and .files[0].facts.n == 8 and .files[0].facts.gradient_accumulation_steps == 64' howmany import "$work/ds.json" --json
howmany plan $job --n 64 --set parallel.tp=4 --set parallel.pp=8 --set parallel.vpp=5 >"$work/out" --emit megatron
howmany import "$work/out" -o "$work/again.yaml" >"$work/log"
howmany plan $job --n 64 --set parallel.tp=4 --set parallel.pp=8 --set parallel.vpp=5 --json >"$work/first.json"
json "flags of Megatron become a job with the same layout and time" 'input as $f | .best.time_s == $f.best.time_s and .best.layout == $f.best.layout' \
  sh -c "howmany plan '$work/again.yaml' --on p5.48xlarge --n 64 --json && cat '$work/first.json'"
howmany plan $job --n 64 --set software=compiled --set parallel.recompute=selective-op --emit torchtitan >"$work/titan.toml"
json "recomputation of torchtitan is read" '.files[0].facts.recompute == "selective-op"' howmany import "$work/titan.toml" --as torchtitan-config --json
howmany plan $job --n 64 --set parallel.tp=4 --set parallel.pp=8 --emit torchtitan >"$work/titan.toml"
json "and the configuration of torchtitan" '.files[0].facts | .tensor == 4 and .pipeline == 8 and .shard * .replicate == 2 and .batch == 512' \
  howmany import "$work/titan.toml" --as torchtitan-config --json
howmany plan $job --n 64 --emit sbatch >"$work/out"
json "the importer reads the script for Slurm" '.files[0].facts | .n == 64 and .nodes == 8 and .workers_per_node == 8' howmany import "$work/out" --json
howmany plan $job --n 64 --set parallel.tp=1 --set parallel.zero=3 --emit accelerate >"$work/accelerate.yaml"
json "and for accelerate" '.files[0].facts.num_processes == 64 and .files[0].facts.num_machines == 8 and .files[0].facts.distributed_type == "FSDP"' howmany import "$work/accelerate.yaml" --json
cat >"$work/slices.yaml" <<'END'
network: llama-2-70b
sequence: 2048
batch: 1024 sequences
iterations: 1000
software: compiled
torus: 4x4x4
parallel: {tensor: 4, zero: 3, shard_within: node, recompute: full}
cluster: {machine: tpu-v5p, accelerators: 4, max_nodes: 64, fabric: {bandwidth: 200 Gbit/s}}
END
json "slices of a pod share the work of one" '.best.time_s > 0 and .best.time_s < 100' howmany plan "$work/slices.yaml" --n 64 --json
one=$(jq .best.time_s "$work/json")
json "and have the network of all their hosts" ".best.time_s > 0 and .best.time_s < 0.7 * $one" howmany plan "$work/slices.yaml" --n 128 --json
has "the plan of two slices ends" "shares of the step" timeout 20 howmany plan "$work/slices.yaml" --n 128
uneven() { howmany plan $job --n 128 --set network=llama-3.1-405b --set parallel.tp=8 --set parallel.pp=8 --set parallel.vpp="$1" "${@:2}"; }
json "embedding and head take the places of layers" '.best.layout.interleave == 8 and any(.notes[]; test("126 layers do not divide into 64 chunks"))' uneven 8 --json
run uneven 5
check "chunks of very different sizes are refused" test "$code" -eq 2
check "with the key and its value" grep -q "parallel.interleave: 5 times pipeline does not divide layers, which is 126" "$work/err"
json "a card with a lower power limit is slower" '.best.time_s > 0' howmany plan $job --n 64 --set cluster.machine=h100-96gb-sxm --json
run howmany plan examples/fig1.yaml --emit megatron
check "emitted flags need a transformer" test "$code" -eq 2
run howmany plan $job --scheme ring
check "schemes do not apply to transformers" test "$code" -eq 2
run howmany validate --llm --fits
check "one kind of validation at a time" test "$code" -eq 2
json "every measured row is predicted" '(.rows | length) == 1569 and all(.rows[]; .time_s > 0) and
  (.sources | length) == 20' howmany validate --llm --json
finish
