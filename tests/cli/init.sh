#!/usr/bin/env bash
# Tests the first job: howmany init must write a job file that plan answers, and howmany plan must ask for a job on a terminal.
. "$(dirname "$0")/lib.sh"

# ---- howmany init ---------------------------------------------------------------------------------

runs() { # FILE: howmany plan answers the file; with 1 where more workers than one do not help
  timeout 60 howmany plan "$1" --no-chart >"$work/answer" || [ $? -eq 1 ] || return 1
  grep -q '^Use ' "$work/answer"
}
keys() { # FILE: each key that is commented out can be set; the machine of the file is kept
  local key
  for key in $(sed -nE 's/^( *)# ([a-z_]+): .*/\2/p' "$1"); do
    sed -E "s/^( *)# ($key: )/\1\2/" "$1" >"$work/set.yaml"
    cmp -s "$1" "$work/set.yaml" && { echo "$key is not set" && return 1; }
    runs "$work/set.yaml" || { echo "with $key" && cat "$work/answer" && return 1; }
  done
}
for model in resnet-50 gpt-2 llama-3-8b lenet-1989; do
  howmany init $model </dev/null >"$work/$model.yaml" 2>"$work/err"
  check "init $model writes a job that plan answers" runs "$work/$model.yaml"
  check "init $model: its commented keys can be set" keys "$work/$model.yaml"
  check "init $model: lines of at most 90 columns" test "$(wc -L <"$work/$model.yaml")" -le 90
done
cd "$work" || exit 1
check "without a terminal nothing is asked" bash -c '[ -z "$(howmany init </dev/null 2>&1 >default.yaml)" ] && grep -q "^network: resnet-50" default.yaml'
expect "-o writes a file and says what is next" 0 "now: howmany plan own.yaml" howmany init bert-large --tokens 10B --on h100 -o own.yaml
check "the values are in the file" bash -c 'grep -q "^network: bert-large " own.yaml && grep -q "^tokens: 10B " own.yaml && grep -q "machine: dgx-h100 .*# nodes of several h100" own.yaml'
check "this file is answered too" runs own.yaml
expect "a file that exists is kept" 2 "own.yaml exists already" howmany init -o own.yaml
expect "a model is suggested" 2 "did you mean resnet-50?" howmany init resnet-51
expect "a machine is suggested" 2 "did you mean p5.48xlarge?" howmany init --on p5.48xlarg
expect "two models are refused" 2 "give one model only; 'b' is another" howmany init a b
expect "two amounts are refused" 2 "give only one of --tokens, --epochs and --iterations" howmany init --epochs 3 -i 4
expect "a text that is not a value is refused" 2 "cannot be written to a job file" howmany init --epochs $'3\nbatch: 4'
expect "an amount that is not a number is refused" 2 "--epochs: 'many' is not an amount of work" howmany init --epochs many
expect "a folder that is missing is reported" 2 "none/job.yaml cannot be written" howmany init -o none/job.yaml

# ---- questions ------------------------------------------------------------------------------------

cat >ask.py <<'END'
"""Runs a command on a terminal of its own; sends a line each time a question waits; prints all that it wrote."""
import os, pty, select, sys
lines, command = sys.argv[1].split("|"), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
seen = asked = b""
while True:
    if not select.select([terminal], [], [], 60)[0]:
        sys.exit("no output for 60 s: " + seen.decode())
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        piece = b""
    if not piece:
        break
    seen += piece
    asked += piece
    if asked.endswith(b"]: "):
        asked = b""
        os.write(terminal, (lines.pop(0) + "\n").encode() if lines else b"\x04")
print(seen.decode().replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
END
ask() { timeout 100 python3 ask.py "$@"; }
expect "without a terminal plan reports the missing job" 2 "no job is given" howmany plan </dev/null
if ! command -v python3 >/dev/null; then
  skip "questions on a terminal" "no python3"
  finish
fi
three() { [ "$(grep -c ']: ' "$work/out")" -eq "$1" ]; }
expect "plan asks three questions and answers" 0 "Use " ask 'resnet-50|g5.12xlarge|30 epochs' howmany plan --no-chart
check "three questions" three 3
check "it shows the command that gives the same answer" grep -qx 'howmany plan resnet-50 --on g5.12xlarge --epochs 30' "$work/out"
sed -n '/^Use /,$p' "$work/out" | sed '/^$/d; s/\x1b\[[0-9;]*m//g' >asked
howmany plan resnet-50 --on g5.12xlarge --epochs 30 --no-chart | sed '/^$/d' >given
check "which it does" cmp asked given
expect "empty lines take the suggestions" 0 "howmany plan resnet-50 --on p5.48xlarge --epochs 90" ask '||' howmany plan --no-chart
expect "a wrong name is asked again" 0 "howmany plan gpt-2 --on h100 --tokens 5B" ask 'gpt-22|gpt-2|h1000|h100|five|5B' howmany plan --no-chart
check "with a suggestion for each" bash -c "grep -q \"no network 'gpt-22'\" '$work/out' && grep -q \"no machine 'h1000'\" '$work/out' && grep -q \"'five' is not an amount of work\" '$work/out'"
expect "tokens of images are refused at once" 0 "the samples of resnet-50 are not tokens" ask '|h100|5B tokens|5 e' howmany plan --no-chart
expect "epochs without a data set are refused at once" 0 "no data set for gpt-2; write tokens or iterations" ask 'gpt-2|h100|5 epochs|5k|100 iterations' howmany plan --no-chart
expect "a model without a usual batch gets one" 0 "howmany plan lenet-1989 --batch 256 --on rtx-4090 --iterations 100" ask 'lenet-1989|rtx-4090|100' howmany plan --no-chart
expect "what is given is not asked" 0 "howmany plan gpt-2 --tokens 1B" ask 'gpt-2|1B' howmany plan --on h100 --no-chart
check "two questions" three 2
expect "the end of the input ends the questions" 2 "no job is given" ask 'resnet-50' howmany plan
expect "init asks the same questions" 0 "machine: g5.12xlarge" ask 'vgg-16|g5.12xlarge|3' howmany init
check "three questions of init" three 3
expect "init with a model asks nothing" 0 "network: vgg-16" ask '' howmany init vgg-16
check "no question" three 0
check "-o - is standard output" sh -c "cd '$work' && howmany init -o - | grep -q '^cluster:' && test ! -e ./-"
finish
