#!/usr/bin/env bash
# Tests howmany converge and howmany advise on the command line: answers, stored fits, and invalid traces.
. "$(dirname "$0")/lib.sh"

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  local name=$1 filter=$2
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}

# Traces whose loss g and time f are known: P - P* = 0.5 (1 - c / m^p)^i, f = 80 ms / m + 1 ms + 0.2 ms ln m.
# "quick" needs few iterations, but more of them on more workers; "steady" always needs the same number.
make_traces() { # MS…
  awk -v ms="$*" 'BEGIN {
    print "algorithm,m,iteration,seconds,loss"
    count = split(ms, m, " ")
    for (k = 1; k <= count; k++) for (a = 0; a < 2; a++) {
      c = a ? 0.1 : 0.6; p = a ? 0 : 0.7
      for (i = 1; i <= 60; i++)
        printf "%s,%d,%d,%.9g,%.15g\n", a ? "steady" : "quick", m[k], i, 0.08 / m[k] + 0.001 + 0.0002 * log(m[k]),
          0.2 + 0.5 * (1 - c / m[k] ^ p) ^ i
    }
  }'
}
make_traces 1 2 4 8 16 32 >"$work/known.csv"
known=$work/known.csv

# converge
expect "the form that made the traces is found" 0 "rate" howmany converge "$known" --best 0.2
json "its parameters are those that made them" '.algorithms[0] | .form == "rate" and
  (.parameters | map({(.text): .value}) | add | (.c1 - 0.7 | fabs) < 1e-3 and (."ln c0" - (0.6 | log) | fabs) < 1e-3) and .error < 0.001' \
  howmany converge "$known" --best 0.2 --json
json "P* is estimated when it is not given" '.best_loss_estimated and (.best_loss - 0.2 | fabs) < 1e-3 and .best_loss_low <= .best_loss and .best_loss <= .best_loss_high' \
  howmany converge "$known" --json
json "every m is held out and predicted" '.holdout.algorithms | length == 2 and all(.left_out | length == 6) and all(.inside < 0.05)' \
  howmany converge "$known" --best 0.2 --leave-out each --json
json "one m is held out" '.holdout.algorithms[0].left_out | length == 1 and .[0].n == 8' \
  howmany converge "$known" --best 0.2 --leave-out 8 --json
json "--ahead predicts iterations ahead" '.holdout | .ahead == 5 and .window == 20 and (.algorithms | all(.ahead_median < 0.01))' \
  howmany converge "$known" --best 0.2 --ahead 5 --window 20 --json
json "--ahead with a time predicts that time ahead" '.holdout | .ahead_s == 0.01 and (.algorithms | all(.ahead_median < 0.02))' \
  howmany converge "$known" --best 0.2 --ahead 10ms --window 20 --json
json "terms can be given" '.algorithms[0] | .form == "terms" and ([.parameters[].text] - ["1", "i", "ln(m)"] == [])' \
  howmany converge "$known" --best 0.2 --terms 'i,ln(m)' --json
json "--algorithms selects algorithms" '[.algorithms[].algorithm] == ["steady"]' howmany converge "$known" -a steady --best 0.2 --json
expect "csv has a header" 0 "algorithm,n,iteration,loss" howmany converge "$known" --best 0.2 --csv
for kind in svg png pdf; do
  check "plot $kind" sh -c "howmany converge $known --best 0.2 --plot $work/c.$kind && [ -s $work/c.$kind ]"
done
check "the output fits 50 columns" sh -c "COLUMNS=50 howmany converge $known --best 0.2 --leave-out each >/dev/null"
check "a closed pipe gives no error message" sh -c "howmany converge $known --best 0.2 | head -n 1 >/dev/null"
check "standard input is read" sh -c "howmany converge - --best 0.2 <$known | grep -q quick"
json "the same seed gives the same bytes" '.[0] == .[1]' sh -c "for i in 1 2; do howmany converge $known --best 0.2 --json; done | jq -s ."

# advise: the expected answer is computed by hand: iterations = ceil(ln(loss / 0.5) / ln(1 - c / m^p)), time = iterations f(m)
hand() { # LOSS: "algorithm m seconds" of the least time over the m above
  awk -v loss="$1" 'BEGIN { least = 1e9; for (m = 1; m <= 32; m *= 2) for (a = 0; a < 2; a++) {
      c = a ? 0.1 : 0.6; p = a ? 0 : 0.7; n = log(loss / 0.5) / log(1 - c / m ^ p); i = int(n); if (i < n) i++
      t = i * (0.08 / m + 0.001 + 0.0002 * log(m)); if (t < least) {least = t; best = (a ? "steady" : "quick") " " m " " t} }
    print best }'
}
for loss in 1e-1 1e-2 1e-3; do
  read -r algorithm m seconds < <(hand $loss)
  json "the best for $loss is that of the formulas" "(.candidates[0] | .algorithm == \"$algorithm\" and .n == $m and
    ((.time_s - $seconds) / $seconds | fabs) < 0.001) and .status == \"ok\" and .best == .candidates[0]" \
    howmany advise "$known" --best 0.2 --loss $loss --json
done
json "probabilities are those of all candidates" '([.candidates[].probability] | add - 1 | fabs) < 1e-9 and (.candidates | length) == 12' \
  howmany advise "$known" --best 0.2 --loss 1e-2 --json
json "--m selects the candidates" '[.candidates[].n] | unique == [3, 6, 12]' howmany advise "$known" --best 0.2 --loss 1e-2 --m 3..12:3,6 --m 3,6,12 --json
json "candidates beyond the measured m are marked" '.candidates | all(.beyond_n == 4 and (.measured | not))' howmany advise "$known" --best 0.2 --loss 1e-2 --m 128 --json
json "with --within the goal is the least loss" '.candidates[0].loss < .candidates[1].loss + 1e-12 and .candidates[0].iterations >= 1' \
  howmany advise "$known" --best 0.2 --within 50ms --json
json "a longer time gives a smaller loss" '.[0] > .[1]' sh -c "for t in 20ms 80ms; do howmany advise $known --best 0.2 --within \$t --json |
  jq '.candidates[0].loss'; done | jq -s ."
json "the cheapest has fewer workers than the fastest" '.[0] > .[1]' sh -c "for g in time cost; do
  howmany advise $known --best 0.2 --loss 1e-2 --goal \$g --price '\$1/h' --json | jq '.candidates[0].n'; done | jq -s ."
json "a budget" '.candidates[0].cost <= 0.00001 * 1.000001' howmany advise "$known" --best 0.2 --budget 0.00001 --price '$1/h' --json
json "--reach gives the loss instead of its distance to P*" '.loss - 0.01 | fabs < 1e-12' howmany advise "$known" --best 0.2 --reach 0.21 --json
expect "a budget of 0 is refused" 2 "--budget: '0' is not more than 0" howmany advise "$known" --best 0.2 --loss 1e-2 --budget 0 --price '$1/h'
expect "a time shorter than one iteration is reported" 1 "it does not finish one iteration within 1.00 ns" howmany advise "$known" --best 0.2 --within 1e-9s
expect "a time that is too short exits 1" 1 "Nothing reaches" howmany advise "$known" --best 0.2 --loss 1e-3 --within 5ms
expect "the reason of each other candidate is shown" 0 "needs" howmany advise "$known" --best 0.2 --loss 1e-2
expect "--all shows a table" 0 "90 % interval" howmany advise "$known" --best 0.2 --loss 1e-2 --all
expect "csv of the candidates" 0 "algorithm,n," howmany advise "$known" --best 0.2 --loss 1e-2 --csv
expect "a schedule without a gain is reported" 0 "gains nothing" howmany advise "$known" --best 0.2 --loss 1e-2 --adaptive --switch-cost 10s
check "a narrow terminal is not overrun" sh -c "script -qec 'stty cols 60; unset COLUMNS; howmany advise $known --best 0.2 --loss 1e-2' /dev/null |
  tr -d '\\r' | awk 'length > 60 {print; bad = 1} END {exit bad || NR < 5}'"

# Times from other sources: a slow network on which one worker is best, a table of runs, a plan.
make_traces 1 2 4 8 16 32 | awk -F, 'NR == 1 {print; next} {print $1 "," $2 "," $3 "," 0.001 * $2 "," $5}' >"$work/slow.csv"
json "times of another cluster change the answer" '.candidates[0].n == 1' \
  howmany advise "$known" --best 0.2 --loss 1e-2 --times "$work/slow.csv" --json
json "times of one algorithm" '([.candidates[] | select(.algorithm == "quick" and .n == 2)][0].iteration_s - 0.002 | fabs) < 1e-9 and
  [.candidates[] | select(.algorithm == "steady" and .n == 2)][0].iteration_s > 0.03' \
  howmany advise "$known" --best 0.2 --loss 1e-2 --times "quick=$work/slow.csv" --json
printf 'n,seconds\n1,1\n2,0.5\n4,0.25\n8,0.13\n16,0.07\n' >"$work/runs.csv"
json "times from a fit of runs" '[.candidates[] | select(.n == 4)] | all((.iteration_s - 0.25 | fabs) < 0.02)' \
  howmany advise "$known" --best 0.2 --loss 1e-2 --times "$work/runs.csv" --json
json "times from a plan" '[.candidates[] | select(.n == 1)][0].iteration_s as $f | $f > 1' \
  howmany advise "$known" --best 0.2 --loss 1e-2 --job examples/fig2-spark-ann.yaml --json
awk -F, -v OFS=, '{print $1, $2, $3, $5}' "$known" >"$work/untimed.csv"
expect "traces without times give no candidate" 2 "there is no candidate" howmany advise "$work/untimed.csv" --best 0.2 --loss 1e-2
json "traces without times can use times of other traces" '.status == "ok"' howmany advise "$work/untimed.csv" --best 0.2 --loss 1e-2 --times "$known" --json
cut -d, -f2-4 "$work/slow.csv" >"$work/nameless.csv"
json "times without an algorithm apply to all" '.candidates | all((.iteration_s - 0.001 * .n | fabs) < 1e-9)' \
  howmany advise "$known" --best 0.2 --loss 1e-2 --times "$work/nameless.csv" --json
sed 's/quick/other/; /steady/d' "$work/slow.csv" >"$work/others.csv"
expect "times of unknown algorithms are refused" 2 "has times of 'other'" howmany advise "$known" --best 0.2 --loss 1e-2 --times "$work/others.csv"

# Stored fits must give the same answers as their traces.
check "a fit can be stored" sh -c "howmany converge $known --best 0.2 --save $work/fit.json >/dev/null && jq -e '.kind == \"convergence\" and .version == 2' $work/fit.json"
check "a stored fit gives the same advice" sh -c "howmany advise $work/fit.json --loss 1e-2 --adaptive --json >$work/a.json &&
  howmany advise $known --best 0.2 --loss 1e-2 --adaptive --json >$work/b.json && cmp $work/a.json $work/b.json"
expect "a stored fit cannot be given another P*" 2 "is a stored fit" howmany advise "$work/fit.json" --best 0.1 --loss 1e-2
expect "a stored fit cannot be held out" 2 "is a stored fit; this needs traces" howmany converge "$work/fit.json" --leave-out each
sed 's/"penalty":[^,]*,/"penalty":"much",/' "$work/fit.json" >"$work/broken.json"
expect "a broken stored fit names the place" 2 "broken.json:" howmany advise "$work/broken.json" --loss 1e-2
expect "a stored fit that cannot be written" 2 "cannot be written" howmany converge "$known" --best 0.2 --save "$work/no/fit.json"

# Traces in other formats.
cut -d, -f2- "$known" | grep -v '^32,' >"$work/nobody.csv"
awk -F, 'NR == 1 || $3 % 10 == 0' "$known" >"$work/tens.csv"
json "traces that begin late have leads" '(.leads | length) > 0 and (.leads[:-1] | all(.to != null))' \
  howmany advise "$work/tens.csv" --best 0.2 --loss 1e-4 --json
awk -F, 'NR == 1 || ($3 > 50 && $2 < 4)' "$known" >"$work/late.csv"
expect "traces without their beginning are not held out" 0 "no m could be held out" howmany converge "$work/late.csv" --best 0.2
# "brief" is fast, but its traces end far above the loss, so it must not count as an algorithm that reaches the loss.
{ cat "$known"; for m in 1 2 4; do for i in 1 2 3 4; do echo "brief,$m,$i,1e-6,$(awk "BEGIN {print 0.7 + 0.1 / $i}")"; done; done; } >"$work/brief.csv"
json "a candidate that never reaches the loss is never the best" '([.candidates[] | select(.reaches == 0) | .probability] | add) == 0 and .sure_algorithm > 0.9 and
  (.leads[-1].algorithm != "brief")' howmany advise "$work/brief.csv" --best 0.2 --loss 1e-2 --json
expect "an m that is too large is refused" 2 "is too large" sh -c "sed 's/^quick,32,/quick,1e300,/' $known | howmany advise - --best 0.2 --loss 1e-2"
json "only the candidates of --m count" '.candidates | length == 4000' \
  howmany advise "$known" --best 0.2 --loss 1e-2 -a quick --m 1..4000 --json
expect "a header with semicolons is reported" 2 "this header has semicolons" sh -c "tr , ';' <$known | howmany converge -"
expect "an algorithm without a name has one in messages" 2 "the algorithm on 1 worker has loss" howmany converge "$work/nobody.csv" --best 0.6
sed '1s/loss/Accuracy/' "$known" >"$work/accuracy.csv"
expect "the measure accuracy ignores case" 0 "1 - accuracy" howmany converge "$work/accuracy.csv" --measure Accuracy
expect "traces with only NaN losses are refused" 2 "before the run diverged" sh -c "awk -F, -v OFS=, 'NR > 1 && \$3 == 1 {\$5 = \"nan\"} 1' $known | howmany converge -"

# Invalid traces.
up=$work/up.csv
{ cat "$known"; for i in 1 2 3 4 5 6 7 8; do echo "worse,4,$i,0.01,0.$((30 + i))"; done; } >"$up"
expect "a trace without improvement is reported" 0 "worse on 4 workers does not improve" howmany converge "$up" --best 0.2
json "an algorithm without improvement is not recommended" '[.candidates[] | select(.algorithm == "worse")][0] | .reaches == 0 and .why == "never"' \
  howmany advise "$up" --best 0.2 --loss 1e-2 --json
expect "a loss below P* is refused" 2 "below P* = 0.3" howmany converge "$known" --best 0.3
make_traces 4 >"$work/one.csv"
expect "traces with one m are noted" 0 "on 4 workers only" howmany converge "$work/one.csv" --best 0.2
json "traces with one m recommend only that m" '[.candidates[].n] | unique == [4]' howmany advise "$work/one.csv" --best 0.2 --loss 1e-2 --m 1,2,4,8 --json
make_traces 4 16 >"$work/two.csv"
expect "traces with two m are noted" 0 "on two numbers of workers only" howmany converge "$work/two.csv" --best 0.2
awk -F, 'NR == 1 || $3 < 20 || $3 > 40' "$known" >"$work/gap.csv"
expect "gaps in a trace are noted" 0 "no points between" howmany converge "$work/gap.csv" --best 0.2
json "gaps in a trace change the fit little" '.algorithms | all(.error < 0.05)' howmany converge "$work/gap.csv" --best 0.2 --json
awk -F, -v OFS=, 'NR == 1 {print; next} {line[NR] = $0; print} $1 == "quick" && $2 == 4 && $3 == 30 {for (k = NR - 9; k <= NR; k++) print line[k]}' \
  "$known" >"$work/again.csv"
json "repeated rows of a restart are read once" '.[0] == .[1]' sh -c "for f in $known $work/again.csv; do
  howmany converge \$f --best 0.2 --json | jq -c .algorithms; done | jq -s ."
expect "a restart is noted" 0 "quick on 4 workers" howmany converge "$work/again.csv" --best 0.2
expect "a loss that is not a number ends a trace" 0 "diverge" sh -c "sed 's/^quick,32,10,\\([^,]*\\),.*/quick,32,10,\\1,nan/' $known | howmany converge - --best 0.2"
check "names cannot send escape sequences to the terminal" sh -c "printf 'algorithm,m,iteration,seconds,loss\\n\\033[31mred,1,1,1,9\\n' | howmany converge - --best 0 |
  { ! grep -q \"\$(printf '\\033')\"; }"
expect "a plot that cannot be written is reported" 2 "cannot be written" howmany converge "$known" --best 0.2 --plot "$work/no/x.svg"
expect "--leave-out with --csv is refused" 2 "has the points" howmany converge "$known" --best 0.2 --leave-out each --csv
expect "a negative seed is refused" 2 "is not a whole number" howmany converge "$known" --best 0.2 --seed -1
json "times of only some algorithms are noted" '.notes | any(contains("steady come from its traces"))' \
  howmany advise "$known" --best 0.2 --loss 1e-2 --times "quick=$work/slow.csv" --json
expect "an empty file is refused" 2 "howmany: " howmany converge /dev/null
expect "a missing column is reported" 2 "loss" sh -c "cut -d, -f1-4 $known | howmany converge - --best 0.2"
expect "an m that is not a number is refused" 2 "m" sh -c "sed 's/^quick,8,/quick,x,/' $known | howmany converge -"
if [ "${HM_SQLITE:-1}" = 1 ]; then
  expect "an empty store is reported" 2 "no selected run has samples" howmany converge
fi
expect "a missing file is reported" 2 "nothere.csv" howmany advise nothere.csv --loss 1e-2
expect "without a target, the smallest loss that every trace reaches is the target" 0 "no target was given" howmany advise "$known"
expect "a budget without a price is refused" 2 "the price of a worker is not known" howmany advise "$known" --best 0.2 --budget 5
expect "a misspelt algorithm gets a suggestion" 2 "did you mean quick?" howmany advise "$known" --best 0.2 --loss 1e-2 -a quik
expect "a schedule for the goal cost is refused" 2 "adaptive finds the least time" howmany advise "$known" --best 0.2 --loss 1e-2 --goal cost --price '$1/h' --adaptive
expect "a schedule without a loss is refused" 2 "adaptive needs a loss" howmany advise "$known" --best 0.2 --within 1s --adaptive
expect "a term with an unknown name is refused" 2 "terms are formulas over i" howmany converge "$known" --best 0.2 --terms 'i,size'
expect "a P* that is not a number is refused" 2 "is not a number" howmany converge "$known" --best x
expect "--window without --ahead is refused" 2 "--window: this needs ahead" howmany converge "$known" --best 0.2 --window 30

# The traces of the case study must have the figures of the documentation.
if [ "$HM_ZLIB" = 1 ]; then
  traces=examples/mnist-traces.csv.gz
  # The loss is reached in 23.5 ms (interval 20.6 to 28.4 ms), and within 24 ms with a probability of about 70 %.
  expect "a time limit is met with 90 %" 1 "Nothing reaches 1e-4 within 24.0 ms with a probability of 90 %." howmany advise $traces --loss 1e-4 --within 24ms
  json "a lower certainty is enough" '.status == "ok" and .certainty == 0.5 and .best.reaches > 0.5 and .best.reaches < 0.9 and
    .sure_near <= 0.99 and .sure_algorithm <= 0.99' howmany advise $traces --loss 1e-4 --within 24ms --certainty 50% --json
  json "case study: m inside are predicted to 0.15, 128 to 0.3, 10 ahead to 0.1" \
    '.holdout.algorithms | length == 6 and all(.inside < 0.15 and .outside < 0.3) and all(.ahead_median == null or .ahead_median < 0.1)' \
    howmany converge $traces --leave-out each --ahead 10 --json
  # howmany train must reproduce the traces in the file.
  data=${HOWMANY_DATA:-../shared/data}/mnist
  same_trace() { # ALGORITHM M SEED
    howmany train --data "$data" --positive 5 --scale unit --lambda 1e-4 --algorithm "$1" -n "$2" --seed "$3" \
      --simulate examples/cluster-study.yaml --scheme tree --best 0.1054226612893 --suboptimality 1e-4 --json |
      jq -r 'select(.iteration) | [.iteration, .seconds, .objective] | @csv' |
      awk -F, '{printf "%d,%.6g,%.12g\n", $1, $2, $3}' >"$work/made.csv"
    zcat $traces | awk -F, -v key="$1,$2,$3" '$1 "," $2 "," $3 == key {print $4 "," $5 "," $6}' | diff - "$work/made.csv"
  }
  if [ -d "$data" ] && [ -n "${HM_SMPIMAIN:-}" ]; then
    check "the case study's traces are what train does" same_trace cocoa+ 16 3
    torture "the traces of splash are reproduced by train" same_trace splash 8 2
  else
    skip "the case study's traces are what train does" "no MNIST in $data, or no SimGrid"
  fi
  # Half of the m are held out. The regret is the mean time to the loss of the chosen candidate,
  # relative to that of the best measured one, minus 1.
  zcat $traces >"$work/all.csv"
  regret() { # LOSS MS-THAT-ARE-SEEN
    howmany advise <(awk -F, -v seen=",$2," 'NR == 1 || index(seen, "," $2 ",")' "$work/all.csv") --loss "$1" \
      --m 1,2,4,8,16,32,64,128 --csv >"$work/advice.csv" || return 1
    awk -F, -v loss="$1" 'NR == FNR {if (FNR == 2) chosen = $1 "," $2; next} FNR == 1 {next}
      {key = $1 "," $2 "," $3; elapsed[key] += $5; if (!(key in hit) && $6 - $7 <= loss) hit[key] = elapsed[key]; runs[key] = $1 "," $2}
      END {for (k in runs) {n[runs[k]]++; sum[runs[k]] += k in hit ? hit[k] : 1e9}
        least = 1e9; for (c in n) if (sum[c] / n[c] < least) least = sum[c] / n[c]
        printf "%s %.4f\n", chosen, sum[chosen] / n[chosen] / least - 1}' "$work/advice.csv" "$work/all.csv"
  }
  for loss in 1e-2 1e-3 1e-4; do
    for seen in 1,4,16,64 2,8,32,128; do
      read -r chosen value < <(regret $loss $seen)
      # 1e-2 from 1, 4, 16, 64: 11 %, see docs/reference/advise.md
      allowed=0.1
      [ "$loss $seen" = "1e-2 1,4,16,64" ] && allowed=0.12
      check "case study: regret for $loss from $seen is $value ($chosen)" awk "BEGIN {exit !($value < $allowed)}"
    done
  done
else
  skip "the traces of the case study" "built without zlib"
fi
if command -v gnuplot >/dev/null && [ "$HM_ZLIB" = 1 ]; then
  picture() { howmany advise examples/mnist-traces.csv.gz --loss 1e-4 --plot "$work/a.svg" >/dev/null && for word in 'use cocoa+ on 8 workers' 'seconds to reach the loss' lbfgs best; do grep -q "$word" "$work/a.svg" || return 1; done; }
  check "--plot draws the candidates of each algorithm and the best" picture
  check "--plot draws the loss that is reached in a time" sh -c "howmany advise examples/mnist-traces.csv.gz --within 10s --plot $work/b.svg >/dev/null; grep -q 'loss above the least' $work/b.svg"
fi

finish
