#!/usr/bin/env bash
# howmany plan for transformers, and howmany validate --llm.
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
has "the first line has machines, time and money" "Use 128 x p5.48xlarge (1024 GPUs): 172 days, \$29,115,251." howmany plan $job
has "a deadline of a transformer has a probability" "meets the deadline of 300 days with 94 % (asked 90 %)" howmany plan $job --deadline 300d
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
run howmany plan examples/fig1.yaml --emit megatron
check "emitted flags need a transformer" test "$code" -eq 2
run howmany plan $job --scheme ring
check "schemes do not apply to transformers" test "$code" -eq 2
run howmany validate --llm --fits
check "one kind of validation at a time" test "$code" -eq 2
json "every measured row is predicted" '(.rows | length) == 1343 and all(.rows[]; .time_s > 0) and
  (.sources | length) == 13' howmany validate --llm --json
finish
