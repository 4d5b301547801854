#!/usr/bin/env bash
# Tests studies: a whole study on a simulated cluster, continuing after an interruption, and wrong files with
# their messages.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # Open MPI does not free all its memory.
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }
example=$HM_SOURCE/examples/study.yaml cluster=$HM_SOURCE/examples/cluster-study.yaml
cd "$work" || exit 1

# ---- wrong files -----------------------------------------------------------------------------
small() { # LINES…: a study, with lines of its own at the end
  printf '%s\n' 'train: {data: digits:400, lambda: 1e-3}' 'algorithms: [cocoa, lbfgs]' 'm: 1..4' 'loss: 1e-2' 'budget: 1 s' "$@"
}
refused() { # NAME MESSAGE: standard input is the study; the whole of standard error
  cat >wrong.yaml
  run howmany study wrong.yaml
  if [ "$code" -eq 2 ] && [ "$err" = "$2" ] && [ ! -e wrong.study/report.html ] && [ -z "$out" ]; then
    say 0 "$1"
  else
    printf '# exit %s, wanted:\n%s\n# got:\n%s\n' "$code" "$2" "$err" | sed 's/^/# /'
    say 1 "$1"
  fi
  rm -rf wrong.study
}
locked() { # FOLDER COMMAND…: is refused while another process has the lock
  mkdir "$1" && exec 8<"$1" && flock -n 8 || return 1
  run "${@:2}"
  exec 8<&-
  [ "$code" -eq 2 ] && [ -z "$(ls -A "$1")" ] && grep -q "another howmany works in the folder $1" err
}
small >locked.yaml
check "a folder in which another command works is refused" locked locked.study howmany study locked.yaml
refused "an unknown key" "howmany: wrong.yaml:6: buget: unknown key 'buget'
  did you mean budget?" < <(small 'buget: 3 s')
refused "no algorithms" "howmany: wrong.yaml:1: 'algorithms' is missing
  algorithms: a list such as [cocoa, cocoa+, {name: lbfgs, memory: 5}]" < <(small | grep -v algorithms)
refused "a list of none" "howmany: wrong.yaml:2: algorithms: the list of algorithms is empty
  write a list such as [cocoa, cocoa+]" < <(small | sed 's/^algorithms.*/algorithms: []/')
refused "no such algorithm" "howmany: --algorithm: there is no 'lbfsg'; did you mean lbfgs?
  in runs of lbfsg, wrong.yaml:2" < <(small | sed 's/cocoa, lbfgs/cocoa, lbfsg/')
refused "one twice" "howmany: wrong.yaml:2: algorithms.1: cocoa is listed twice" < <(small | sed 's/cocoa, lbfgs/cocoa, cocoa/')
refused "less than one worker" "howmany: wrong.yaml:3: m.0: '0' is out of range
  it must be at least 1 and at most 100000" < <(small | sed 's/1\.\.4/[0, 4]/')
refused "a range that falls" "howmany: wrong.yaml:3: m: '4..1' ends before it begins" < <(small | sed 's/1\.\.4/4..1/')
refused "no loss" "howmany: wrong.yaml:4: loss: '0' is out of range
  it must be more than 0" < <(small | sed 's/^loss.*/loss: 0/')
refused "a budget without a unit" "howmany: wrong.yaml:5: budget: '60' has no unit
  write a time such as 20 ms, 90 s, 6 h or 3 days" < <(small | sed 's/^budget.*/budget: 60/')
refused "missing data" "howmany: missing.svm: cannot open: No such file or directory
  a file, a folder with the files of MNIST, or a recipe: dense:1000x20, sparse:10000x1000, digits:5000
  in runs of lbfgs, wrong.yaml:2" < <(small | sed 's/digits:400/missing.svm/')
refused "a key of the study's own" "howmany: wrong.yaml:1: train.seed: is set by the study
  seeds: gives the number of runs of each configuration" < <(small | sed 's/lambda: 1e-3/lambda: 1e-3, seed: 3/')
refused "no such option" "howmany: wrong.yaml:1: train.lamda: there is no such option of howmany train
  did you mean lambda?" < <(small | sed 's/lambda: 1e-3/lamda: 1e-3/')
refused "a value that is none" "howmany: --lambda: '-1' is less than 0
  wrong.yaml:1: lambda" < <(small | sed 's/1e-3/-1/')
refused "a switch with a value" "howmany: wrong.yaml:1: train.shrink: is a switch
  write true or false" < <(small | sed 's/lambda: 1e-3/shrink: 3/')
refused "a value left out" "howmany: wrong.yaml:1: train.lambda: needs a value
  strength of the regulariser (default 1e-4; perceptron 0)" < <(small | sed 's/lambda: 1e-3/lambda: true/')
refused "another's option" "howmany: --passes: applies only to local-sgd, splash, cocoa, cocoa+ and fedavg; this run uses lbfgs
  in runs of lbfgs, wrong.yaml:2" < <(small | sed 's/lbfgs/{name: lbfgs, passes: 2}/')
refused "an option of all" "howmany: wrong.yaml:2: algorithms.lambda: is not an option of a single algorithm
  write it under train:" < <(small | sed 's/lbfgs/{name: lbfgs, lambda: 2}/')
refused "nothing to reach" "howmany: wrong.yaml:1: train.problem: belief propagation has no loss to reach" < <(small | sed 's/lambda: 1e-3/problem: bp/')
refused "cost without a price" "howmany: wrong.yaml:6: goal: cost needs a price
  price: of one worker, such as \$1/h" < <(small 'goal: cost')
refused "no such cluster" "howmany: nowhere.yaml: cannot open: No such file or directory" < <(small 'simulate: nowhere.yaml')
refused "an empty file" "howmany: wrong.yaml: the file is empty" < <(:)
expect "a missing operand is refused" 2 "the file is missing" howmany study
expect "a missing file is reported" 2 "nowhere.yaml: cannot open" howmany study nowhere.yaml
expect "a second file is refused" 2 "give one file only; 'b' is another" howmany study a b
expect "standard input without --folder is refused" 2 "from standard input needs --folder" howmany study -
small >small.yaml
expect "an invalid --loss is refused" 2 "--set: loss: '0' is out of range" howmany study small.yaml --loss 0
expect "an invalid --budget is refused" 2 "has no unit" howmany study small.yaml --budget 7
expect "an unknown key in --set is refused" 2 "unknown key 'los'" howmany study small.yaml --set los=3

# ---- --dry-run -------------------------------------------------------------------------------
small "simulate: $cluster" >small.yaml
dry() {
  howmany study small.yaml --dry-run >dry && test ! -e small.study && is "$(wc -l <dry)" 7 &&
    is "$(grep -c -- "'--best=P\*'" dry)" 6 && is "$(sed 1q dry | grep -o -- '--algorithm=[^ ]*\|--gap=[^ ]*' | tr '\n' ' ')" "--algorithm=cocoa --gap=0.0005 " &&
    is "$(sed 1d dry | grep -o -- '--n=[0-9]*' | tr '\n' ' ')" "--n=2 --n=2 --n=4 --n=4 --n=1 --n=1 "
}
check "--dry-run prints the first runs and makes none" dry
given() { howmany study small.yaml --set best=0.1 --dry-run | grep -c -- --best=0.1 | grep -qx 6; }
check "a P* that is given needs no run" given

if [ -z "${HM_SMPIMAIN:-}" ]; then
  skip "studies on a simulated cluster" "built without SimGrid, or with sanitizers"
  finish
fi

# ---- the example -----------------------------------------------------------------------------
mkdir one other
cp "$cluster" one
# The example with fewer rows and a quarter of its workers; `make torture` runs the whole of it.
if in_torture; then
  cp "$example" one
else
  sed 's/data: digits,/data: "digits:600",/; s/m: 1..32/m: 1..8/' "$example" >one/study.yaml
fi
study() { (cd one && howmany study study.yaml "$@"); }
study >answer 2>said
code=$?
check "the example is answered" test $code -eq 0
check "standard error is empty" test ! -s said
check "the answer has its parts" bash -c 'for part in "Fives among" "Runs  " "P\*" "of 3.00 s" "Check" "chosen" "runner-up" "predicted" "achieved" "study.study/report.html"; do grep -q "$part" answer || { echo "no $part"; exit 1; }; done'
check "the report is HTML" grep -qi '<html' one/study.study/report.html
check "the report loads nothing else" bash -c '! grep -oiE "(src|href)=.?https?:" one/study.study/report.html'
complete_traces() { for file in one/study.study/*.jsonl; do tail -n 1 "$file" | grep -q '^{"summary":true' || return 1; done; }
check "every trace is complete" complete_traces
check "the folder has only traces and the report" bash -c '! ls one/study.study | grep -vE "\.jsonl$|^(problem.txt|report.html)$"'
again() {
  ls -l --time-style=full-iso one/study.study/*.jsonl >before && cp one/study.study/report.html report.before &&
    study >again && cmp answer again && ls -l --time-style=full-iso one/study.study/*.jsonl | cmp - before && cmp report.before one/study.study/report.html
}
check "a second start makes no run and gives the same answer" again
json() {
  study --json >j && jq -e '(.runs | length) >= 12 and ([.runs[] | select(.reason == "reference")] | length) == 1 and .simulated and
    .spent_s > 0 and (.advice | type) == "object" and ([.checks[].role] == ["chosen", "runner-up"]) and
    (.checks[0] | .predicted_s > 0 and .achieved_s > 0 and (.inside | type) == "boolean" and .loss <= 5e-4 * 1.000001)' j &&
    jq -e '(([.runs[].time_s] | add) / .spent_s - 1) | fabs < 1e-9' j
}
check "--json gives one JSON document" json
in_budget() { jq -e '.spent_s - ([.runs[].time_s] | max) <= .budget_s' j; }
check "at most one run goes beyond the budget" in_budget
check "no run gets below P*" jq -e '[.runs[].loss] | min >= 0' j
check "the check uses a new seed" bash -c 'jq -e "[.runs[].seed] | max == 1" j && ls one/study.study | grep -q -- "-2.jsonl"'
check "--report selects the file of the report" bash -c 'cd one && howmany study study.yaml --report ../r.html >/dev/null && test -s ../r.html'
expect "a report that cannot be written" 2 "no/r.html cannot be written" bash -c 'cd one && howmany study study.yaml --report no/r.html'

# A smaller study in two folders; only one of them is interrupted.
mkdir undisturbed
sed 's/data: digits,/data: "digits:400",/; s/iterations: 300/iterations: 100/; s/m: 1..32/m: 1..8/; s/loss: 5e-4/loss: 5e-3/' "$example" >other/study.yaml
cp "$cluster" other
cp other/* undisturbed
(cd undisturbed && howmany study study.yaml) >undisturbed.answer
traces_at_least() { [ "$(ls other/study.study/*.jsonl 2>/dev/null | wc -l)" -ge "$1" ]; }
interrupted() { # in the middle of its runs
  (cd other && exec howmany study study.yaml >out 2>err) &
  local pid=$!
  wait_for 60 traces_at_least 4
  kill -TERM $pid
  wait $pid
  is $? 130 && grep -q "interrupted; study.study keeps the complete runs" other/err && test ! -s other/out &&
    test ! -e other/study.study/report.html && test "$(ls other/study.study/*.jsonl | wc -l)" -lt "$(ls undisturbed/study.study/*.jsonl | wc -l)"
}
check "a signal ends the study and keeps the runs" interrupted
killed() { # by SIGKILL
  (cd other && exec howmany study study.yaml >out 2>err) &
  local pid=$! before=$(ls other/study.study/*.jsonl | wc -l)
  wait_for 60 traces_at_least $((before + 1))
  kill -9 $pid
  wait $pid 2>/dev/null
  test ! -e other/study.study/report.html
}
check "SIGKILL keeps the runs" killed
check "a restarted study gives the same answer" bash -c '(cd other && howmany study study.yaml) >resumed && grep -q chosen resumed && cmp undisturbed.answer resumed'
check "a restarted study writes the same report" cmp undisturbed/study.study/report.html other/study.study/report.html
same_learning() { # including times; only host, start time and memory may differ
  for file in undisturbed/study.study/*.jsonl; do
    cmp <(jq -c 'del(.time, .host, .memory_bytes)' "$file") <(jq -c 'del(.time, .host, .memory_bytes)' "other/study.study/$(basename "$file")") || return 1
  done
}
check "a restarted study has the same traces" same_learning

# ---- the folder ------------------------------------------------------------------------------
check "a small study is answered" bash -c 'howmany study small.yaml >/dev/null'
expect "a folder with runs of another problem is refused" 2 "small.study has runs of another problem; give another --folder, or remove it" howmany study small.yaml --set train.lambda=1e-2
expect "--folder selects another folder" 0 "else/report.html" howmany study small.yaml --set train.lambda=1e-2 --folder else
mkdir strange && echo '{}' >strange/x.jsonl
expect "a folder with other files is refused" 2 "strange has files that do not belong to a study" howmany study small.yaml --folder strange
expect "a folder that cannot be created is reported" 2 "no/such/folder cannot be made" howmany study small.yaml --folder no/such/folder
expect "a larger study continues in the same folder" 0 "" howmany study small.yaml --set 'algorithms=[cocoa, lbfgs, cocoa+]' --set m=1..8
options_apart() { # runs with different options have different names
  howmany study small.yaml --set 'algorithms=[{name: cocoa, passes: 2, shrink: true}, lbfgs]' >/dev/null && test -s small.study/cocoa,passes=2,shrink-2-1.jsonl
}
check "algorithms may have their own options" options_apart
seeds() { howmany study small.yaml --folder seeds --set seeds=2 --json | jq -e '[.runs[] | select(.reason == "initial run")] | length == 12'; }
check "repeats have different seeds" seeds
small "simulate: $cluster" | sed 's/lbfgs/{name: sgd, step: 1e200, batch: 10}/; s/lambda: 1e-3/problem: squares/; s/digits:400/dense:200x5/' >diverges.yaml
diverges() {
  run howmany study diverges.yaml
  test "$code" -eq 0 && grep -q "sgd on 2 workers failed and is skipped: it diverged" "$work/err" && grep -q "chosen .*cocoa" "$work/out" &&
    test -s diverges.study/sgd,step=1e200,batch=10-2-1.failed && run howmany study diverges.yaml && test "$code" -eq 0 && is "$err" ""
}
check "an algorithm that diverges is skipped and not run again" diverges
no_reference() { # the run that finds P* has failed: the others take all their iterations
  rm -rf lost && howmany study small.yaml --set iterations=100 --folder lost --json >/dev/null && rm lost/*.jsonl && echo "it died" >lost/reference.failed
  run howmany study small.yaml --set iterations=100 --folder lost --json
  test "$code" -le 1 && jq -e '[.runs[] | select(.reason == "reference")] | length == 0' "$work/out" && jq -e '.runs | length >= 4' "$work/out"
}
check "without the reference run P* is estimated" no_reference
torn() { # a truncated trace
  run howmany study small.yaml --folder torn --json && head -c 300 torn/cocoa-2-1.jsonl >torn/cut && mv torn/cut torn/cocoa-2-1.jsonl
  run howmany study small.yaml --folder torn
  test "$code" -eq 2 && grep -q "torn/cocoa-2-1.jsonl:" "$work/err" && grep -q "remove the file to execute the run again" "$work/err"
}
check "a truncated trace is reported with a hint" torn
expect "a budget that is too small for one run is reported" 1 "the budget was spent before any run was complete" howmany study small.yaml --folder spent --budget 1e-9s
expect "a price of 0 is refused" 2 "price: '\$0/h' is out of range" howmany study small.yaml --folder free --set goal=cost --set 'price=$0/h'
expect "a loss that no run reaches exits 1" 1 "" howmany study small.yaml --folder far --set iterations=2 --set best=0.01 --loss 1e-9
other_problems() {
  small "simulate: $cluster" | sed 's/lambda: 1e-3/lambda: 1e-3, problem: softmax/; s/cocoa, lbfgs/lbfgs, momentum/' >softmax.yaml
  howmany study softmax.yaml --budget 10s --json >j && jq -e '.runs[0] | .reason == "reference" and .algorithm == "lbfgs"' j && jq -e '[.runs[].loss] | min > 0' j
}
check "softmax: L-BFGS finds P*" other_problems
perceptron() {
  small "simulate: $cluster" 'iterations: 60' | sed 's/lambda: 1e-3/problem: perceptron, hidden: 8/; s/cocoa, lbfgs/momentum, sgd/; s/^loss.*/loss: 0.5/' >layers.yaml
  run howmany study layers.yaml --json
  test "$code" -le 1 && jq -e '[.runs[] | select(.reason == "reference")] | length == 0' "$work/out"
}
check "a perceptron: P* is estimated" perceptron

# ---- on a terminal ---------------------------------------------------------------------------
if command -v script >/dev/null; then
  check "the output fits a narrow terminal" bash -c "[ \$(script -qec 'COLUMNS=60 TERM=dumb howmany study small.yaml' /dev/null </dev/null 2>/dev/null | tr -d '\\r' | wc -L) -le 60 ]"
  check "a terminal gets progress" bash -c "script -qec 'howmany study small.yaml --folder seen >/dev/null' /dev/null </dev/null | tr '\\r' '\\n' | grep -q 'study: run [0-9]*: cocoa on [0-9]* worker'"
else
  skip "a terminal" "no script(1)"
fi
if [ "${HM_REDUCE:-}" ]; then
  check "real ranks" bash -c 'grep -v simulate small.yaml | sed "s/1\.\.4/1..2/; s/^budget.*/budget: 20 s/" >real.yaml && howmany study real.yaml --json | jq -e ".simulated == false and .spent_s > 0"'
fi
finish
