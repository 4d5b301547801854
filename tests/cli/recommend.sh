#!/usr/bin/env bash
# Tests howmany recommend: answers from rows, from a fit, from the model, and unknown answers.
. "$(dirname "$0")/lib.sh"
every=${1:-1} # With the sanitizers, only one in N checks is made, N = $1.

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  chosen || return 0
  local name=$1 filter=$2 every=1
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}

exactly() { # NAME CODE TEXT COMMAND…: exit code, and all of standard output and error
  chosen || return 0
  local name=$1 wanted=$2 text=$3
  shift 3
  run "$@"
  if [ "$code" -eq "$wanted" ] && [ "$(cat "$work/out" "$work/err")" = "$text" ]; then
    say 0 "$name"
  else
    echo "# exit $code (wanted $wanted)"
    diff <(echo "$text") <(cat "$work/out" "$work/err") | sed 's/^/# /'
    say 1 "$name"
  fi
}

anwar=examples/anwar.csv
r() { howmany recommend "$@"; }

# rows: the published answers
for case in "64000 0 4 1..4" "192 0 1 1..4" "64000 60 3 1..4" "1280 60 2 2..4"; do
  set -- $case
  json "batch $1, $2 ms: $3 workers" ".provenance == \"rows\" and .status == \"ok\" and .best == .candidates[0] and .best.n == $3 and .sure < 1 and .best.low_s < .best.time_s and .best.time_s < .best.high_s" \
    r $anwar --batch "$1" --latency "$2ms" --n "$4" --json
done
json "one worker has no network" '.best.n == 1 and .best.time_s == 4' r $anwar --batch 192 --latency 20ms --json
expect "the provenance is reported" 0 "3 of 44 runs match exactly" r $anwar --batch 64000 --latency 0
expect "failed runs are reported" 0 "1 worker: out of memory (line 3)" r $anwar --batch 64000 --latency 0
json "a failed candidate comes last" '.candidates[-1] | .failed and .n == 1 and .time_s == null and .feasible == false and .why == "out of memory (line 3)"' \
  r $anwar --batch 64000 --latency 0 --json
printf 'n,batch,seconds\n1,10,3\n' >"$work/one.csv"
expect "candidates without runs at this place are listed" 0 "there are no runs with 2 workers" r "$work/one.csv" --batch 10 --n 1,2
json "the most useful next run is named" '.next == {n: 2, batch: 10} and (.next_why | length) > 0' \
  r "$work/one.csv" --batch 10 --n 1,2 --json
printf 'n,batch,seconds\n1,10,3\n2,20,4\n' >"$work/two.csv"
json "candidates without runs at this place come from a fit" '.provenance == "rows" and .notes == [] and (.reason | test("1 of 2 runs matches exactly; the other n from a fit")) and
  (.candidates[] | select(.n == 2) | .row_count == 0 and .low_s < .time_s and .time_s < .high_s)' r "$work/two.csv" --batch 10 --json
json "the answer does not contradict the fit" '.provenance == "fit" and .candidates[0].n == 3' r $anwar --batch 6400 --latency 20ms --json
json "the answer has the rows of the table" '.rows == [2, 7, 13, 19] or (.rows | length) == 4' r $anwar --batch 6400 --latency 0 --json
json "rounding does not matter" '.provenance == "rows"' r $anwar --batch 6400 --latency 0.06s --json
expect "--all lists all candidates" 0 "90 % interval" r $anwar --batch 6400 --latency 0 --all

# fit
json "a place between measured points is predicted" '.provenance == "fit" and .candidates[0].n == 3 and .candidates[0].low_s < 131 and .candidates[0].high_s > 131 and
  .sure > 0.9 and .level == 0.9 and (.rows | length) == 43' r $anwar --batch 12800 --latency 30ms --json
json "a higher level gives a wider interval" '.[0].candidates[0].high_s < .[1].candidates[0].high_s' \
  sh -c "for l in 50% 99%; do howmany recommend $anwar --batch 12800 --latency 30ms --level \$l --json; done | jq -s ."
json "the same seed gives the same bytes" '.[0] == .[1]' \
  sh -c "for i in 1 2; do howmany recommend $anwar --batch 12800 --latency 30ms --seed 5 --json; done | jq -s ."
json "another seed gives the same answer" '.candidates[0].n == 3' r $anwar --batch 12800 --latency 30ms --seed 77 --json
expect "the probability of the answer is reported" 0 "% sure to be within 5 % of the best; the exact best " r $anwar --batch 12800 --latency 30ms
expect "runs of one worker are compared at every latency" 0 "1 worker 3.58 min" r $anwar --batch 12800 --latency 30ms
expect "a place beyond the runs is noted" 0 "batch 128000 is outside the runs, which end at batch 64000" r $anwar --batch 128000 --latency 0
json "a larger batch than a failed one counts as failed" '[.candidates[] | select(.failed).why] == ["out of memory with a batch of 64000 (line 3)"]' r $anwar --batch 128000 --latency 0 --json
json "--n limits the candidates" '[.candidates[].n] == [2, 4]' r $anwar --batch 12800 --latency 30ms --n 2,4 --json
json "n without any run are predicted" '.provenance == "fit" and ([.candidates[].n] | length) == 29' \
  r examples/runs.csv --at size=0.3 --n 12..40 --json
expect "n beyond the runs are noted" 0 "20 workers are 1.25 times as many as in any run" r examples/runs.csv --at size=1 --n 1..20 --slack 0
json "a table of JSON lines is read" '.provenance == "rows" and .candidates[0].n == 8' r examples/runs.jsonl --machine m5.large --json
expect "an n with failed and successful runs is noted" 0 "4 workers: 1 run failed, although others succeeded: exit 137 (line 5)" r examples/runs.jsonl --machine m5.large
expect "machines that differ are noted" 0 "runs of different machines are combined; give machine to use those of one" r examples/runs.jsonl
check "standard input is read" sh -c "howmany recommend - --batch 192 --latency 0 <$anwar | grep -q 'Use 1 worker: 4.00 s'"
check "a gzip file is read" sh -c "[ $HM_ZLIB = 0 ] || { gzip -c $anwar >$work/a.csv.gz && howmany recommend $work/a.csv.gz --batch 192 --latency 0 | grep -q 'Use 1 worker'; }"
json "--where keeps some runs" '.candidates[0].n == 3' r $anwar --where latency=0.06 --batch 64000 --json

cat >"$work/two.csv" <<'END'
n,batch,algorithm,machine,seconds,cost
1,8,gd,a,10,0.10
2,8,gd,a,6,0.12
4,8,gd,a,5,0.20
1,8,cocoa,a,4,0.04
2,8,cocoa,b,3,0.12
END
two=$work/two.csv
json "--algorithm" '[.candidates[].n] == [4, 2, 1]' r "$two" --algorithm gd --batch 8 --json
json "--machine" '[.candidates[].n] == [2]' r "$two" --algorithm cocoa --machine b --json
own=$every every=1 # No other checks with the sanitizers have a column of costs.
json "a column cost is used" '.candidates[0] | .n == 1 and .cost == 0.1 and .value == 0.1' r "$two" --algorithm gd --goal cost --json
json "--price overrides the column cost" '.candidates[0] | .n == 1 and .cost == 10' r "$two" --algorithm gd --goal cost --price '$1/s' --json
every=$own
json "balance" '.goal == "balance" and .candidates[0].n == 2 and ((.candidates[0].value - 18) | fabs) < 1e-9' \
  r "$two" --algorithm gd --alpha 1 --beta 100 --json
expect "the weights of balance are reported" 0 "so that the least time and the least cost have" r "$two" --algorithm gd --goal balance
json "with a deadline the goal is cost" '.goal == "cost" and .candidates[0].n == 2' r "$two" --algorithm gd --deadline 7s --json
json "a budget" '.goal == "time" and .candidates[0].n == 2 and (.candidates[-1].feasible | not)' r "$two" --algorithm gd --budget 0.15 --json
expect "candidates over a limit are marked" 0 "(over the limit)" r "$two" --algorithm gd --budget 0.15
expect "nothing meets the deadline" 1 "Nothing meets the deadline with a probability of 90 %." r "$two" --algorithm gd --deadline 1s
json "the nearest miss is reported" '.status == "unreached" and .best == null and .missed == "deadline" and .candidates[0].n == 4' r "$two" --algorithm gd --deadline 1s --json
expect "nothing meets the budget" 1 "Nothing meets the budget with a probability of 90 %." r "$two" --algorithm gd --budget '$0.01'
expect "nothing meets both" 1 "Nothing meets the deadline and budget with a probability of 90 %." r "$two" --algorithm gd --budget 0.11 --deadline 7s
expect "without a price the cost is in worker-seconds" 0 "fewest worker-seconds" r $anwar --batch 192 --latency 0 --goal cost

# plan and recommend must give the same answer from one table, because they use the same fit, intervals and rule.
printf 'n,seconds\n1,16\n2,8.3\n4,4.5\n8,2.7\n' >"$work/curve.csv"
same_answer() {
  howmany plan "$work/curve.csv" --n 1..32 --json >"$work/plan.json" && r "$work/curve.csv" --n 1..32 --json >"$work/recommend.json" &&
    jq -es '.[0] as $p | .[1] as $r | def near($a; $b): ($a - $b | fabs) < 1e-9;
      all("n", "time_s", "low_s", "high_s"; . as $key | near($p.recommended[$key]; $r.recommended[$key]) and near($p.best[$key]; $r.best[$key])) and
      ($p.sure_near - $r.sure_near | fabs) < 0.01 and $p.n_low == $r.n_low and $p.n_high == $r.n_high and $r.recommended.n < $r.best.n' "$work/plan.json" "$work/recommend.json"
}
check "plan and recommend give one answer" same_answer
json "a measured n has the interval of the fit" '.recommended.n == 8 and .recommended.time_s == 2.7 and .recommended.low_s < 2.6 and .recommended.high_s > 2.8' r "$work/curve.csv" --json
json "--slack 0 recommends no n that is worse than the best" '.recommended.time_s <= .best.time_s and .slack == 0' r "$work/curve.csv" --n 1..32 --slack 0 --json
expect "the optimum is reported beside the recommendation" 0 "optimum      4 workers 57.0 s" r $anwar --batch 6400 --latency 0
printf 'n,workers_per_node,seconds\n1,8,16\n2,8,8.3\n4,8,4.5\n8,8,2.7\n' >"$work/node.csv"
expect "runs inside one node are noted" 0 "No run left its node of 8 workers" r "$work/node.csv" --n 1..64

# model
json "without runs the model answers" '.provenance == "model" and .candidates[0].n == 9 and .source == "examples/fig2-spark-ann.yaml" and .sure == null' \
  r --job examples/fig2-spark-ann.yaml --json
json "--batch changes the batch of the model" '.candidates[0].time_s' r --job examples/fig2-spark-ann.yaml --batch 1000 --n 4 --json
json "half the batch takes less time" '.[0] < .[1]' sh -c "for b in 1000 2000; do howmany recommend --job examples/fig2-spark-ann.yaml --batch \$b --n 1 --json; done | jq -s 'map(.candidates[0].time_s)'"
printf 'n,batch,seconds\n4,10,3\n' >"$work/one.csv"
json "the model answers when the runs cannot" '.provenance == "model" and (.reason | test("so the model of"))' r "$work/one.csv" --batch 20 --job examples/fig2-spark-ann.yaml --json
json "rows come before the model" '.provenance == "rows" and .candidates[0].n == 4' r "$work/one.csv" --batch 10 --job examples/fig2-spark-ann.yaml --json
json "--on selects the machine of the model" '.candidates[0].cost > 0' r --job examples/resnet50.yaml --on p4d.24xlarge --json
expect "a quantity that the model lacks is noted" 0 "the job's model has no latency" r --job examples/generic-linear.yaml --latency 5ms
echo '{graph: {generate: grid, vertices: 10000}, communicate: none, cluster: {flops: 1 Gflop/s, max_nodes: 4}}' >"$work/grid.yaml"
json "a graph job is answered by the model" '.provenance == "model" and .candidates[0].n == 4' r --job "$work/grid.yaml" --n 1..4 --json

# Unknown answers.
exactly "too few runs give the status unknown" 1 "Cannot tell yet.
  from         no run has batch 20, and the others are not sufficient: all runs have batch 10 only
  would help   a run of 8 workers with batch 20: no run shows yet how the time depends on n" r "$work/one.csv" --batch 20
json "the JSON of an unknown answer is complete" '.status == "unknown" and .provenance == "none" and .best == null and .candidates == [] and .next == {n: 8, batch: 20}' r "$work/one.csv" --batch 20 --json
exactly "an algorithm without runs gives the status unknown" 1 "Cannot tell yet.
  from         no run is of gd" r "$work/one.csv" --algorithm gd
expect "a quantity without values in the runs is noted" 1 "no run has a value of bandwidth" r $anwar --batch 64000 --latency 0 --at 'bandwidth=1 Gbit/s'
json "a failing n is not proposed as the next run" '.next.n == 2' r $anwar --batch 64000 --latency 0 --at 'bandwidth=1 Gbit/s' --json
expect "--n with only failing n gives no answer" 1 "the only candidate is known to fail" r $anwar --batch 64000 --latency 0 --n 1
json "an n without information gives no answer" '.provenance == "none" and .next.n == 8' r $anwar --batch 64000 --latency 0 --n 8 --json

# formats
check "csv" sh -c "howmany recommend $anwar --batch 64000 --latency 0 --csv | sed -E 's/^([0-9]+,[0-9]+),[0-9.]+,[0-9.]+,/\\1,low,high,/' | diff - $work/wanted.csv" <<END
$(printf 'n,time_s,low_s,high_s,cost,value,row_count,meets,feasible,failed,why\n4,419,low,high,,419,1,,true,false,\n3,503,low,high,,503,1,,true,false,\n2,769,low,high,,769,1,,true,false,\n1,,,,,,0,,false,true,out of memory (line 3)\n' >"$work/wanted.csv")
END
json "the JSON keys are the names of the struct's fields" 'keys_unsorted == ["howmany","status","provenance","source","reason","goal","level","best","recommended","sure","sure_near","slack","n_low","n_high","certainty","missed","candidates","rows","next","next_why","notes"] and
  (.candidates[0] | keys_unsorted) == ["n","time_s","low_s","high_s","cost","value","row_count","meets","feasible","failed","why"]' r $anwar --batch 64000 --latency 0 --json
narrow() {
  COLUMNS=50 script -qec "howmany recommend $anwar --batch 12800 --latency 30ms --all" /dev/null </dev/null | tr -d '\r' >"$work/narrow"
  grep -q 'Use 3 workers' "$work/narrow" && awk 'length > 50 {print; bad = 1} END {exit bad}' "$work/narrow"
}
if command -v script >/dev/null; then check "a narrow terminal" narrow; else skip "a narrow terminal" "no script"; fi
check "a closed pipe gives no error message" sh -c "howmany recommend $anwar --batch 12800 --latency 30ms --json | head -n 1 >/dev/null"
expect "help" 0 "--latency" howmany help recommend
expect "a misspelt command gets a suggestion" 2 "did you mean recommend?" howmany recomend

# Invalid options and operands.
[ "${HM_SQLITE:-1}" = 0 ] || exactly "no runs" 2 "howmany: the store has no such runs
  \`howmany runs import\` adds tables of runs" r --batch 3
exactly "a quantity that varies must be given" 2 "howmany: $anwar: the runs differ in latency, so the question must give it
  give it, as in latency 60ms" r $anwar --batch 192
exactly "a latency without a unit is refused" 2 "howmany: --latency: '20' has no unit
  write a time such as 20 ms, 90 s, 6 h or 3 days" r $anwar --batch 192 --latency 20
exactly "an unknown quantity is refused" 2 "howmany: the runs have no quantity 'latncy'
  did you mean latency?" r $anwar --batch 192 --at latncy=3
exactly "a label instead of a number is refused" 2 "howmany: machine is a label, not a quantity
  select runs with where machine=…" r "$two" --at machine=3
exactly "n as a quantity is refused" 2 "howmany: n is the result; it cannot be given in the question" r $anwar --at n=3
exactly "a quantity given twice is refused" 2 "howmany: --at: batch is given twice" r $anwar --batch 3 --at batch=4
exactly "a quantity without a value is refused" 2 "howmany: --at: 'batch' is not NAME=VALUE" r $anwar --at batch
exactly "a value without a quantity is refused" 2 "howmany: --at: '=3' is not NAME=VALUE" r $anwar --at =3
exactly "a batch of 0 is refused" 2 "howmany: batch: 0 is out of range; it must be more than 0" r $anwar --batch 0 --latency 0
exactly "a fraction of a worker is refused" 2 "howmany: --n: n must be whole and at least 1, not 0.5" r $anwar --n 0.5
exactly "an unknown goal is refused" 2 "howmany: --goal: 'fun' is not time, cost or balance" r $anwar --goal fun
exactly "a budget without a price is refused" 2 "howmany: budget: a budget needs a price, but no price is known
  give the price of a worker, such as \$1/h, or a column cost" r $anwar --batch 192 --latency 0 --budget 3
exactly "a budget of 0 is refused" 2 "howmany: --budget: '0' is not more than 0" r $anwar --budget 0
exactly "a deadline of 0 is refused" 2 "howmany: --deadline: '0' is not more than 0" r $anwar --deadline 0
exactly "a level of 100 % is refused" 2 "howmany: --level: '1' is not between 0 and 1
  write a probability such as 0.9 or 90%" r $anwar --level 1
exactly "a second table is refused" 2 "howmany: recommend: only one RUNS can be given, but 'b' is another" r a b
exactly "--json with --csv is refused" 2 "howmany: --json: json and csv exclude each other" r $anwar --json --csv
exactly "--on without a job is refused" 2 "howmany: --on: this needs a job" r $anwar --on p4d.24xlarge
exactly "--where without runs is refused" 2 "howmany: --where: this needs runs" r --job examples/fig1.yaml --where a=b
exactly "two machines are refused" 2 "howmany: --on: only one machine can be named here" r --job examples/resnet50.yaml --on p4d.24xlarge,p5.48xlarge
printf 'n,speedup\n1,1\n2,1.9\n' >"$work/speedup.csv"
exactly "a table of speedups is refused" 2 "howmany: $work/speedup.csv: the runs have speedups only
  a recommendation needs seconds" r "$work/speedup.csv"
expect "a missing file is reported" 2 "cannot open" r "$work/nothing.csv"
expect "too many n are refused" 2 "at most 4096 can be compared" r $anwar --batch 192 --latency 0 --n 1..5000
if command -v gnuplot >/dev/null; then
  picture() { howmany recommend examples/anwar.csv --batch 64000 --latency 0ms --plot "$work/r.svg" >"$work/text" && grep -q '</svg>' "$work/r.svg" && grep -q "use 4 workers: 6.98 min" "$work/r.svg" && grep -q '90 % interval' "$work/r.svg"; }
  check "--plot draws times with intervals and the recommended number" picture
  expect "--plot of an unknown kind is refused" 2 "must end in .svg, .png or .pdf" howmany recommend examples/anwar.csv --batch 192 --latency 20ms --plot "$work/r.gif"
fi

finish
