#!/usr/bin/env bash
# Tests howmany calibrate: the CPU, a fake GPU, a recorded GPU, MPI ranks, outputs of other tools, and failures.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
unset LD_LIBRARY_PATH # meson adds the folder of the pretended GPU to it
h200=$HM_SOURCE/examples/h200-timings.json
fake="$HM_BUILD/tests/fake_cuda"
close_to() { jq -e "($1) as \$x | (\$x > $2 * (1 - $3)) and (\$x < $2 * (1 + $3))" "$4"; } # FILTER VALUE SHARE FILE: the filter's number is within the share of VALUE

# The CPU. Two runs of --quick on a busy machine may differ, and operations that take too long there are left out, so only what
# must hold is checked.
expect "the CPU is measured" 0 "products in fp32" howmany calibrate --cpu --quick -o cpu.yaml --record cpu.json
check "the description has a date, a rate and a bandwidth" bash -c \
  "grep -q '^flops: {fp64: .*flop/s, fp32: ' cpu.yaml && grep -q '^memory_bandwidth: .*B/s' cpu.yaml && grep -q '  date: .$(date -u +%Y-%m-%d)' cpu.yaml"
check "a plan uses it" bash -c "howmany plan '$HM_SOURCE/examples/fig2-spark-ann.yaml' --on cpu.yaml --fabric 1gbe --json >plan.json && jq -e '.best.n >= 1' plan.json"
check "and says so" grep -q "the machine was measured on $(date -u +%Y-%m-%d)" plan.json
howmany calibrate --cpu --quick --plain --json >plain.json 2>err
check "built-in loops instead of OpenBLAS" jq -e '.library == "built-in loops" and .flops.fp32 > 1e6 and ([.timings[].what] | unique | contains(["gemm", "stream"]))' plain.json
check "times repeat from their recording" bash -c \
  "howmany calibrate --replay cpu.json 2>/dev/null | diff - cpu.yaml"

# A recorded CPU of 16 cores: the plan must use its rate, its bandwidth and their uncertainty.
cat >xeon.json <<'END'
{"device": "cpu", "name": "recorded CPU", "date": "2026-11-16", "processors": 16, "memory": 1e11, "timings": [
  {"what": "stream", "shape": [50331648], "workers": 1, "nodes": 1, "seconds": 0.005, "spread": 0.02},
  {"what": "stream", "shape": [805306368], "workers": 16, "nodes": 1, "seconds": 0.008, "spread": 0.02},
  {"what": "gemm", "precision": "fp32", "shape": [1024, 1024, 1024], "workers": 16, "nodes": 1, "seconds": 0.002, "spread": 0.02},
  {"what": "gemm", "precision": "fp32", "shape": [2048, 2048, 2048], "workers": 16, "nodes": 1, "seconds": 0.016, "spread": 0.02},
  {"what": "gemm", "precision": "fp64", "shape": [1024, 1024, 1024], "workers": 16, "nodes": 1, "seconds": 0.004, "spread": 0.02}]}
END
howmany calibrate --replay xeon.json 2>/dev/null >xeon.yaml
check "a recorded CPU has cores and measured figures" bash -c "grep -q '^cores: 16' xeon.yaml && grep -q '  memory_bandwidth: 100.7 GB/s' xeon.yaml && grep -q '  core_bandwidth: 10.07 GB/s' xeon.yaml"
printf 'network: mnist-ann\nbatch: 5000\nprecision: fp32\ncluster: {machine: xeon-16-vcpu}\n' >ann.yaml
cpu_step() { howmany plan ann.yaml --on "$1" --max-n 1 --json | jq "$2"; }
sed 's/^  flops: .*/  flops: {fp64: 50 Gflop\/s, fp32: 100 Gflop\/s}/; s/uncertainty: .*/uncertainty: 30%/' xeon.yaml >slow.yaml
check "a slower measured rate makes the step slower" jq -en "$(cpu_step slow.yaml .best.compute_s) > 5 * $(cpu_step xeon.yaml .best.compute_s)"
sed '/core_bandwidth/d; s/^  memory_bandwidth: .*/  memory_bandwidth: 1 GB\/s/' xeon.yaml >narrow.yaml
check "a smaller measured bandwidth makes the step slower" jq -en "$(cpu_step narrow.yaml .best.compute_s) > 1.05 * $(cpu_step xeon.yaml .best.compute_s)"
check "a less certain calibration has a wider interval" jq -en "$(cpu_step slow.yaml '.best.high_s / .best.low_s') > 1.2 * $(cpu_step xeon.yaml '.best.high_s / .best.low_s')"

# A recorded GPU.
check "-o - is standard output" sh -c "howmany calibrate --replay cpu.json -o - 2>/dev/null | diff - cpu.yaml && test ! -e ./-"
howmany calibrate --replay "$h200" -o h200.yaml --json >h200.json
check "a recorded H200 reaches 742 Tflop/s in bf16" close_to .flops.bf16 742e12 0.001 h200.json
check "its entry of the catalog is found by its name" grep -q '^accelerator: "h200"' h200.yaml
expect "the report compares with the data sheet" 0 "91 % of 4800 GB/s" howmany calibrate --replay "$h200" -o x.yaml
job="$HM_SOURCE/examples/resnet50.yaml"
step() { howmany plan "$job" --on "$1" --max-n 1 --json | jq .best.compute_s; }
slower() { # NAME FACTOR FILE: a machine with its measured rates changed is slower by at least the factor
  jq -en "$(step "$3") > $2 * $(step "$1")"
}
sed 's/bf16: 742 Tflop/bf16: 74.2 Tflop/' h200.yaml >slow.yaml
check "measured rates change the plan" slower h200.yaml 1.5 slow.yaml
sed 's/memory_bandwidth: .*/memory_bandwidth: 400 GB\/s/' h200.yaml >narrow.yaml
check "a measured bandwidth changes the plan" slower h200.yaml 2 narrow.yaml
sed 's/bf16: 1.474}/bf16: 0.100}/' h200.yaml >conv.yaml
check "measured convolutions change the plan" slower h200.yaml 1.5 conv.yaml
sed 's/kernel: .*/kernel: 1 ms/' h200.yaml >late.yaml
check "a measured kernel changes the plan" slower h200.yaml 2 late.yaml
check "plans of large networks use it too" bash -c \
  "fast=\$(howmany plan '$HM_SOURCE/examples/llama-3-70b.yaml' --on h200.yaml --fabric 3200Gbit/s --set cluster.accelerators=8 --n 64 --json | jq .best.time_s) &&
   slow=\$(howmany plan '$HM_SOURCE/examples/llama-3-70b.yaml' --on slow.yaml --fabric 3200Gbit/s --set cluster.accelerators=8 --n 64 --json | jq .best.time_s) &&
   jq -en \"\$slow > 3 * \$fast\""
check "a machine that was measured is one node" bash -c "howmany plan resnet-50 --on h200.yaml --json | jq -e .best.n==1"
check "with a job that has a fabric it is not" bash -c "howmany plan '$job' --on h200.yaml --json | jq -e '.best.n > 1 and any(.notes[]; test(\"kept from the job: .*fabric\"))'"
check "a fabric makes it a cluster" bash -c "howmany plan '$job' --on h200.yaml --fabric 100gbe --json | jq -e '.best.n > 1'"
mkdir -p "$HOME/.local/share/howmany/catalog"
{ echo "machines:"; echo "  our-card:"; sed 's/^/    /' h200.yaml; } >"$HOME/.local/share/howmany/catalog/own.yaml"
json_n() { howmany plan resnet-50 --on our-card --json | jq -e '.machine == "our-card" and .best.n == 1'; }
check "which stays the machine that was measured" json_n
expect "it can be an entry of one's own catalog" 0 "measured         2026-11-16, within 4.3 %" howmany catalog show our-card
rm -r "$HOME/.local"
expect "an accelerator of the catalog by name" 0 'accelerator: "a100"' howmany calibrate --replay "$h200" --accelerator a100
expect "an unknown accelerator" 2 "--accelerator" howmany calibrate --replay "$h200" --accelerator z80

# The same times as a trace of the profiler with shapes: each operation of the host has one kernel. The machine must be that of a
# replay of these operations.
jq '.timings |= map(select((.what == "gemm" and .precision != "fp8") or .what == "stream"))' "$h200" >some.json
jq '{"bf16": "c10::BFloat16", "fp16": "c10::Half", "fp32": "float", "tf32": "float", "fp64": "double"} as $types |
  {schemaVersion: 1, deviceProperties: [{id: 0, name: .name, numSms: .processors}],
   traceEvents: ([.timings | to_entries[] | .key as $i | .value | {ph: "X", cat: "cpu_op", ts: $i, dur: 1} +
      if .what == "gemm" then {name: "aten::mm", args: {"External id": ($i + 1), "Input type": [$types[.precision], $types[.precision]],
          "Input Dims": [[.shape[0], .shape[2]], [.shape[2], .shape[1]]]}}
      else {name: "aten::add", args: {"External id": ($i + 1), "Input type": ["float", "float", "Scalar"],
          "Input Dims": [[(.shape[0] / 12)], [(.shape[0] / 12)], []]}} end] +
    [.timings | to_entries[] | {ph: "X", cat: "kernel", name: (if .value.precision == "tf32" then "gemm_tf32" else "gemm" end),
       ts: (1000 * .key), dur: (1e6 * .value.seconds), args: {"External id": (.key + 1)}}])}' some.json >trace.json
howmany calibrate --replay some.json -o replayed.yaml >/dev/null 2>&1
howmany import trace.json --to document -o traced.yaml >traced.txt
figures() { sed -n 's/.*measured:$//; s/^  flops: //p; s/^  memory_bandwidth: //p' "$1" | tr -c '0-9.\n' ' '; }
near() { paste -d' ' <(figures replayed.yaml) <(figures traced.yaml) | awk '{ for (i = 1; i <= NF / 2; i++) { n++; if (($i / $(i + NF / 2) - 1) ^ 2 > 1e-6) bad = 1 } } END { exit bad || n < 5 }'; }
check "a trace of the profiler gives the machine of a replay" near
check "its data sheet is found by the device's name" grep -q '^accelerator: "h200"' traced.yaml
check "plan uses the trace as a machine" bash -c "howmany plan '$job' --on trace.json --max-n 1 --json | jq -e '(.best.compute_s / $(howmany plan "$job" --on replayed.yaml --max-n 1 --json | jq .best.compute_s) - 1 | fabs) < 1e-3'"
jq 'del(.traceEvents[].args["Input Dims"])' trace.json >bare.json
expect "a trace without shapes gives no machine, and says how to record them" 0 "record_shapes=True" howmany import bare.json
expect "and cannot be a machine" 2 "gives no cluster" howmany plan "$job" --on bare.json
jq '.deviceProperties[0].name = "Chip"' trace.json >chip.json
check "an unknown device is described by what was timed" bash -c "howmany import chip.json --to document -o - | grep -q '^assumed: .*75 %'"

# A fake GPU: matrix products at 250 Tflop/s, memory at 4 TB/s, 1 us for a kernel.
gpu() { env LD_LIBRARY_PATH="$fake" "$@"; }
if [ "$HM_SANITIZE" = none ]; then
  gpu howmany calibrate --gpu --quick --json -o gpu.yaml >gpu.json 2>err
  check "times of a GPU are those of its clock" jq -e '[.timings[] | select(.what == "gemm" and .precision == "bf16")
    | (.seconds / (1e-6 + 2 * .shape[0] * .shape[1] * .shape[2] / 250e12) - 1 | fabs) < 1e-3] | length >= 3 and all' gpu.json
  check "its memory bandwidth is found" close_to .memory_bandwidth_bytes_per_s 4e12 0.001 gpu.json
  check "the time of a kernel is found" close_to .kernel_s 1e-6 0.001 gpu.json
  check "rates of fp64 and fp32 are near those of the largest products" bash -c \
    'jq -e "(.flops.fp32 / 16e12 - 1 | fabs) < 0.3 and (.flops.fp64 / 18e12 - 1 | fabs) < 0.3" gpu.json'
  check "there is no fp8 and there are no convolutions" jq -e '.flops.fp8 == null and .convolutions == {}' gpu.json
  check "equal GPUs are counted" grep -q '^accelerators: 2' gpu.yaml
  check "the card is found in the catalog" grep -q '^accelerator: "a100-sxm4-80gb"' gpu.yaml
  check "without a request the GPU is measured" bash -c "LD_LIBRARY_PATH='$fake' howmany calibrate --quick 2>/dev/null | grep -q A100"
  FAKE_CUDA=unknown gpu howmany calibrate --gpu --quick >other.yaml 2>err
  check "an unknown card gets typical peaks, which are marked" bash -c "grep -q '^assumed: .peak rates' other.yaml && grep -q '^processors: 108' other.yaml"
  check "and its plan works" bash -c "howmany plan '$job' --on other.yaml --json | jq -e '.best.compute_s > 0'"
  FAKE_CUDA=none expect "a driver without a GPU" 2 "the NVIDIA driver finds no GPU" gpu howmany calibrate --gpu --quick
  FAKE_CUDA=full expect "a GPU without memory" 2 "CUDA_ERROR_OUT_OF_MEMORY" gpu howmany calibrate --gpu --quick
  FAKE_CUDA=broken expect "a GPU that fails" 2 "cuLaunchKernel fails with CUDA_ERROR_FAKE" gpu howmany calibrate --gpu --quick
  FAKE_BLAS=none expect "cuBLAS that does not start" 2 "cuBLAS does not start" gpu howmany calibrate --gpu --quick
  expect "a GPU that does not exist" 2 "there is no device 2; this machine has 2 GPUs" gpu howmany calibrate --gpu --device 2
  mkdir driver && cp "$fake/libcuda.so.1" driver
  LD_LIBRARY_PATH="$work/driver" expect "a driver without cuBLAS" 2 "cuBLAS is not found" howmany calibrate --gpu
else
  skip "a pretended GPU" "libraries without the sanitizer cannot be loaded"
fi
if ldconfig -p | grep -q libcuda.so.1; then
  skip "no GPU" "this machine has a driver"
else
  expect "a machine without a driver" 2 "there is no NVIDIA driver" howmany calibrate --gpu
  check "the hint names --cpu" grep -q -- "--cpu" "$work/err"
fi

# Outputs of other benchmark tools.
nccl="$HM_SOURCE/examples/nccl-tests.txt"
expect "nccl-tests give the link" 0 "inside a node" howmany calibrate --from "$nccl" -o node.yaml
check "of eight workers" bash -c "grep -q '^accelerators: 8' node.yaml && grep -q '^link: {bandwidth: ' node.yaml"
howmany calibrate --replay "$h200" --from "$nccl" --json >both.json
check "together with the times of a GPU" jq -e '.flops.bf16 > 7e14 and .link_bandwidth_bytes_per_s > 1e11 and .link_error < 0.3' both.json
printf '# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n8 2.00\n1024 2.10\n1048576 86.0\n16777216 1344.2\n' >osu.txt
check "OSU gives a fabric" bash -c "howmany calibrate --from osu.txt 2>/dev/null | grep -qE '^fabric: .bandwidth: 12.49 GB/s, latency: 2.008 us'"
expect "a file without messages" 2 "" howmany calibrate --from "$job"
expect "a file that does not exist" 2 "nothing.txt" howmany calibrate --from nothing.txt

# MPI.
if [ -n "${HM_REDUCE:-}" ]; then
  expect "messages between two ranks" 0 "inside a node" howmany calibrate --fabric --quick -n 2 -o links.yaml --record links.json
  check "messages and all-reduces were timed" jq -e '[.timings[] | .what] | unique == ["all_reduce", "send"]' links.json
  check "messages have three sizes, and each takes time" jq -e '[.timings[] | select(.what == "send")] | map(.shape) == [[8], [512], [32768]] and all(.[]; .seconds > 0)' links.json
  check "the old name of the option" howmany calibrate --network --quick -n 2
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  inside() { timeout 60 mpirun --oversubscribe -n 2 howmany calibrate --fabric --quick >inside.yaml 2>err; }
  check "under mpirun the ranks are those of mpirun" inside
  check "and one of them prints" bash -c "[ \$(grep -c '^link:' inside.yaml) = 1 ]"
  expect "the ranks cannot be started" 2 "does not start" howmany calibrate --fabric --launcher 'no-such-launcher {n}'
  expect "ranks that fail" 2 "the ranks ended with status" howmany calibrate --fabric --launcher 'false {n}'
  expect "howmany-links needs two ranks" 2 "there is one rank" howmany-links
  expect "howmany-links has one option" 2 "the only option is --quick" howmany-links --slow
else
  expect "a build without MPI" 2 "this build has no MPI" howmany calibrate --fabric -n 2
fi

# Wrong usage and failures.
expect "both kinds of worker" 2 "one kind of worker" howmany calibrate --cpu --gpu
expect "an operand" 2 "unexpected operand 'x'" howmany calibrate x
expect "ranks without messages" 2 "--n: it applies only with --fabric or --from" howmany calibrate --cpu -n 3
expect "one rank" 2 "--n" howmany calibrate --fabric -n 1
expect "hosts without messages" 2 "--hosts: it applies only with --fabric" howmany calibrate --hosts a,b
expect "hosts and a launcher" 2 "--hosts: name the hosts" howmany calibrate --fabric --hosts a,b --launcher 'srun -n {n}'
expect "a recording and a device" 2 "--replay: the file says" howmany calibrate --replay "$h200" --cpu
expect "times that no machine has" 2 "out of range" howmany calibrate --replay "$HM_SOURCE/tests/fuzz/corpus/timings/huge.yaml"
expect "a recorded device that is not one" 2 "times.yaml:1" bash -c 'echo "device: tpu" >times.yaml; howmany calibrate --replay times.yaml'
expect "a file that cannot be written" 2 "--output: no/folder.yaml cannot be written" howmany calibrate --cpu --quick -o no/folder.yaml
expect "a recording that cannot be written" 2 "--record: no/folder.json cannot be written" howmany calibrate --cpu --quick --record no/folder.json
check "a full device is reported" bash -c '! howmany calibrate --replay "$1" >/dev/full 2>err && grep -q "howmany:" err' - "$h200"
interrupted() { # Ctrl-C ends the measurement with 130 and writes nothing
  timeout --preserve-status -s INT -k 5 0.3 howmany calibrate --cpu -o never.yaml 2>err
  [ $? -eq 130 ] && [ ! -e never.yaml ]
}
check "Ctrl-C" interrupted
finish
