#!/usr/bin/env bash
# Tests the commands that learn from runs: fit, design, bench, plan --runs and validate --fits.
. "$(dirname "$0")/lib.sh"
data=${HOWMANY_DATA:-../shared/data}

json() { # NAME FILTER COMMAND…: the JSON of the command makes the jq filter true
  local name=$1 filter=$2
  shift 2
  "$@" >"$work/json" 2>"$work/err"
  check "$name" jq -e "$filter" "$work/json"
}

cat >"$work/runs.csv" <<'END'
n,size,seconds,machine
1,1,102.1,a
2,1,53.3,a
4,1,29.0,a
8,1,17.9,a
16,1,12.1,a
1,0.5,51.5,a
4,0.5,16.4,a
16,0.5,9.3,b
END
runs=$work/runs.csv

# fit
expect "fit prints its formula" 0 "seconds = " howmany fit "$runs"
expect "fit chooses terms" 0 "size/n" howmany fit "$runs"
expect "a target is answered in a sentence" 0 "64 workers: " howmany fit "$runs" --target 64
expect "a target beyond the runs is noted" 0 "4 times beyond the runs" howmany fit "$runs" --target n=64,size=1
json "json has the documented shape" '.run_count == 8 and .configuration_count == 8 and (.terms|length) > 0 and
  (.predictions|length) == 2 and (.residuals|length) == 8 and (.alternatives|length) > 0 and .level == 0.9 and
  (.predictions[1] | .low_s <= .mean_low_s and .mean_low_s < .time_s and .time_s < .mean_high_s and .beyond == 4)' \
  howmany fit "$runs" --predict 8,64 --json
json "terms can be given" '[.terms[].term] == ["1","size/n","ln(n)"] and .chosen == false and .errors == "equal"' \
  howmany fit "$runs" --terms '1,size/n,ln(n)' --json
json "commas inside parentheses do not separate terms" '(.terms|length) == 2' howmany fit "$runs" --terms 'size/n,min(n,8)' --json
json "a higher level gives a wider interval" '.[0] > .[1]' sh -c "for l in 99% 50%; do howmany fit $runs --target 64 --level \$l --json |
  jq '.predictions[0] | .high_s - .low_s'; done | jq -s ."
json "the interval widens beyond the runs" '.[1] > .[0]' sh -c "howmany fit $runs --predict 8,128 --json |
  jq '[.predictions[] | (.mean_high_s - .mean_low_s) / .time_s]'"
json "rows in another order give the same fit" '.[0] == .[1]' sh -c "
  { head -n 1 $runs; tail -n +2 $runs | sort -r; } >$work/turned.csv
  for f in $runs $work/turned.csv; do howmany fit \$f --json | jq '[.terms[] | [.term, (.value * 1e6 | round)]]'; done | jq -s ."
json "--where keeps some runs" '.run_count == 7' howmany fit "$runs" --where machine=a --json
json "--errors relative" '.errors == "relative"' howmany fit "$runs" --terms '1,size/n' --errors relative --json
json "the same seed gives the same bytes" '.[0] == .[1]' sh -c "for i in 1 2; do howmany fit $runs --target 64 --json; done | jq -s ."
expect "residuals are shown" 0 "leverage" howmany fit "$runs" --residuals
expect "csv has a header" 0 "n,time_s,low_s,high_s" howmany fit "$runs" --csv
expect "labels that differ are noted" 0 "runs of different machine are fitted together" howmany fit "$runs"
check "standard input is read" sh -c "howmany fit - --target 4 <$runs | grep -q '4 workers'"
check "gzip is read" sh -c "[ $HM_ZLIB = 0 ] || { gzip -c $runs >$work/r.csv.gz && howmany fit $work/r.csv.gz | grep -q seconds; }"
if [ "$HM_ZLIB" != 0 ]; then
  # 90 MB of text, which gzip makes over 100 times smaller.
  awk 'BEGIN { print "n,seconds"; srand(1)
    for (i = 0; i < 12500; i++) {
      printf "%d,%d\n", 1 + rand() * 1e6, 1 + rand() * 1e6
      for (k = 0; k < 599; k++) print "16,1.234567" } }' | gzip -1 >"$work/huge.csv.gz"
  expect "a compressed table that decodes to 90 MB is refused" 2 "decodes to more than 64 MB and more than 100 times" howmany fit "$work/huge.csv.gz"
  rm "$work/huge.csv.gz"
fi
for kind in svg png pdf; do
  check "plot $kind" sh -c "howmany fit $runs --plot $work/f.$kind && [ -s $work/f.$kind ]"
done
check "the output fits 40 columns" sh -c "COLUMNS=40 howmany fit $runs >/dev/null"
check "a closed pipe gives no error message" sh -c "howmany fit $runs | head -n 1 >/dev/null"

# JSON lines, Ernest's header, speedups, failed runs
printf '{"n":%s,"seconds":%s}\n' 1 9 2 5.1 4 3.2 8 2.2 16 1.9 >"$work/r.jsonl"
json "a table of JSON lines is read" '.run_count == 5' howmany fit "$work/r.jsonl" --json
printf '#Cores,Input Fraction, Time (s)\n4,0.1,3\n8,0.1,2.5\n8,0.2,3.1\n16,0.2,2.9\n' >"$work/ernest.csv"
json "a header in a comment line is read" '.run_count == 4' howmany fit "$work/ernest.csv" --json
printf 'n,speedup\n1,1\n2,1.9\n4,3.3\n8,5\n' >"$work/speedup.csv"
json "a table of speedups is fitted relative to one worker" '.relative == true' howmany fit "$work/speedup.csv" --json
printf 'n,seconds,status\n1,9,ok\n2,5,ok\n4,,exit 1\n8,2.2,ok\n' >"$work/failed.csv"
expect "failed runs are counted" 0 "1 of 4 runs failed" howmany fit "$work/failed.csv"
printf 'n,seconds\n1,10\n2,6\n4,4\n8,3.1\n1,10.1\n2,6.1\n4,3.9\n8,3.0\n16,9.5\n16,2.6\n16,2.5\n' >"$work/outlier.csv"
expect "outliers are shown, not dropped" 0 "is an outlier" howmany fit "$work/outlier.csv" --terms '1,1/n'
json "outliers stay in the fit" '.run_count == 11 and ([.residuals[] | select(.outlier)] | length) == 1' howmany fit "$work/outlier.csv" --terms '1,1/n' --json
printf 'n,seconds\n1,10\n2,6\n3,4.7\n2,6.1\n1,10.2\n3,4.8\n' >"$work/small.csv"
expect "terms that the runs cannot distinguish are noted" 0 "can hardly distinguish" howmany fit "$work/small.csv" --terms '1/n,ln(n),sqrt(n)'
expect "the run that would distinguish them is named" 0 "add a run at n >= " howmany fit "$work/small.csv" --terms '1/n,ln(n),sqrt(n)'
printf 'n,seconds\n1,11.2\n2,6.746573590\n4,4.993147181\n8,4.889720771\n' >"$work/exact.csv" # 1 + 10/n + 0.5 ln n + 0.2 n
expect "as many terms as runs give no interval" 0 "are too few for an interval" howmany fit "$work/exact.csv" --terms '1,1/n,ln(n),n'

# Invalid tables: exit 2 with the row and the column.
refuse() { # NAME TEXT PATTERN [OPTION…]
  printf "$2" >"$work/bad.csv"
  local name=$1 pattern=$3
  shift 3
  expect "$name" 2 "$pattern" howmany fit "$work/bad.csv" "$@"
}
refuse "an empty file" '' 'no header line'
refuse "no runs" 'n,seconds\n' 'no runs'
refuse "one run" 'n,seconds\n1,2\n' 'one run cannot show'
refuse "NaN" 'n,seconds\n1,2\n2,NaN\n' "bad.csv:3: seconds: 'NaN' is not a number"
refuse "a negative time" 'n,seconds\n1,2\n2,-3\n' "bad.csv:3: seconds: '-3' must be more than 0"
refuse "a time of zero" 'n,seconds\n1,0\n' "bad.csv:2: seconds: '0' must be more than 0"
refuse "a column twice" 'n,seconds,n\n1,2,3\n' "column 'n' appears twice"
refuse "a column twice by another name" 'n,seconds,workers\n1,2,3\n' "column 'workers' appears twice"
refuse "units that disagree" 'n,seconds\n1,2 s\n2,300\n' "bad.csv:3: seconds: '300' has no unit, but line 2 has one"
refuse "more terms than runs" 'n,seconds\n1,2\n2,1\n' '3 terms need as many different runs; there are 2' --terms '1,1/n,n'
refuse "an unknown name in a term" 'n,seconds\n1,2\n2,1\n' "'m'" --terms '1,m'
refuse "a term twice" 'n,seconds\n1,2\n2,1\n' 'appears twice' --terms 'n,n'
refuse "a term that is infinite" 'n,seconds\n1,2\n2,1\n4,1\n' 'bad.csv:2: ' --terms '1,1/(n-1)'
refuse "a run without what a term needs" 'n,size,seconds\n1,1,2\n2,,1\n4,1,1\n' 'bad.csv:3: size: the run has no value of size' --terms '1,size/n'
refuse "a target that is not there" 'n,seconds\n1,2\n2,1\n4,1\n' "no quantity 'sise'" --target n=4,sise=3
refuse "a level of everything" 'n,seconds\n1,2\n2,1\n' 'not between 0 and 1' --level 1
expect "a missing file is reported" 2 "cannot open" howmany fit "$work/nothing.csv"
[ "${HM_SQLITE:-1}" = 0 ] || expect "without a file the user's own store is read" 2 "the store has no such runs" howmany fit
expect "--terms with --job is refused" 2 "a job has its own terms" howmany fit "$runs" --job examples/fig1.yaml --terms 1
expect "--on without --job is refused" 2 "--on: this needs a job" howmany fit "$runs" --on m5.4xlarge

# A job as the prior of a fit.
printf 'n,speedup\n1,1\n2,1.88\n4,2.91\n' >"$work/fig2.csv"
json "fig. 2 from three small runs" '([1.88,2.46,2.91,3.2,3.2,3.2,3.2,3.56,3.1,3,3.2,3.31] as $m |
  [.predictions[] | {n, s: .speedup}] | map(select(.n != 2 and .n != 4)) | map((.s / $m[.n - 2] - 1) | fabs) | add / length) < 0.1' \
  howmany fit "$work/fig2.csv" --job examples/fig2-spark-ann.yaml --predict 2..13 --json
json "without runs the fit is the model of the job" '(.predictions[0].time_s * 1e4 | round) == 26610 and .run_count == 0' \
  howmany fit --job examples/fig1.yaml --predict 10 --json

# plan --runs
json "plan answers from runs alone" '.provenance == "fit" and .sure >= 0 and .sure <= 1 and .sure_near >= .sure and
  .n_low <= .best.n and .best.low_s < .best.time_s and .help == []' howmany plan --runs "$runs" --json
json "plan combines runs and a job" '.provenance == "model and runs" and (.help|length) > 0 and .sure >= 0' \
  howmany plan examples/fig2-spark-ann.yaml --runs "$work/fig2.csv" --json
expect "plan reports the probability of its answer" 0 "how sure" howmany plan --runs "$runs"
json "a deadline works on the fit" '.goal == "cost" and .best.total_s <= 36000' \
  howmany plan --runs "$runs" --on m5.4xlarge --set iterations=2000 --deadline 10h --json
json "a budget works on the fit" '.goal == "time" and .best.cost <= 40 and .in_budget != null' \
  howmany plan --runs "$runs" --on m5.4xlarge --set iterations=1000 --budget 40 --json
json "knee and pareto work on the fit" '.knee.n > 1 and (.pareto|length) > 1' howmany plan --runs "$runs" --on m5.4xlarge --json
expect "a deadline that no n meets is reported" 1 "meets the deadline" howmany plan --runs "$runs" --set iterations=2000 --deadline 1s
expect "several machines are refused" 2 "one machine" howmany plan --runs "$runs" --on m5.4xlarge,c5.18xlarge
expect "--terms without --runs is refused" 2 "--terms: this needs runs" howmany plan examples/fig1.yaml --terms 1
json "csv of the curve has intervals" '.' sh -c "howmany plan --runs $runs --csv | head -n 1 | grep -q low_s && echo true"

# design
only='floor(size*256 + 0.5) >= 4*n'
json "Ernest's example" '(.objective * 1e8 | round) == 561727309 and .candidate_count == 83 and .gap < 1e-8 and
  ([.runs[] | select(.made) | [.n, (.size * 1e7 | round)]] | sort) ==
  [[1,156250],[1,213816],[3,501645],[3,559211],[3,616776],[4,616776],[8,1250000]]' \
  howmany design --n 1..8 --size 4/256..32/256:20 --budget 10 --only "$only" --json
expect "the runs are listed" 0 "7 runs of 83 candidates" howmany design --n 1..8 --size 4/256..32/256:20 --budget 10 --only "$only"
json "measured runs improve a design" '.before != null and .rounded < .before' \
  howmany design --n 1..8 --size 0.25..1:4 --budget 3 --have "$runs" --json
json "criterion I aims at the target" '(.runs|length) > 0' howmany design --n 1..8 --budget 4 --criterion I --target 64 --json
json "criterion D" '(.runs|length) > 0' howmany design --n 1..8 --budget 4 --criterion D --json
json "a job gives the cost of its runs" '.machine_s > 0 and .money > 0 and .cost <= 3600' \
  howmany design examples/fig2-spark-ann.yaml --on m5.4xlarge --fabric 1gbe --n 1,2,4,8 --size 0.1,0.5 --budget 1h --json
json "a budget may be money" '.money <= 0.5' howmany design examples/fig2-spark-ann.yaml --on m5.4xlarge --fabric 1gbe --n 1,2,4 --budget '$0.5' --json
expect "--rounds shows what each run adds" 0 "not enough" howmany design --n 1..8 --budget 6 --rounds
expect "a design without n is refused" 2 "give the possible runs" howmany design --budget 3
expect "a budget of 0 is refused" 2 "not more than 0" howmany design --n 1..4 --budget 0
expect "a budget in money without a job is refused" 2 "time and money need a job and no cost" howmany design --n 1..4 --budget '$3'
expect "criterion I without a target is refused" 2 "needs a target" howmany design --n 1..8 --criterion I --budget 4
expect "an unknown criterion is refused" 2 "is not A, D or I" howmany design --n 1..8 --criterion E
expect "candidates with one n are refused" 2 "cannot distinguish the term" howmany design --n 4 --budget 4
expect "a negative cost is refused" 2 "the cost is -1" howmany design --n 1..6 --cost '5-n'
expect "a condition that no candidate meets is refused" 2 "no candidate is left" howmany design --n 1..6 --only 'n > 9'

# bench
cat >"$work/job" <<'END'
#!/bin/sh
# job N SIZE prints iterations; it fails for n = 3.
[ "$1" = 3 ] && { echo "no memory left" >&2; exit 7; }
[ "$1" = 5 ] && sleep 60
echo "starting"
awk "BEGIN {for (i = 1; i <= 3; i++) printf \"{\\\"iteration\\\":%d,\\\"seconds\\\":%g,\\\"loss\\\":%g}\\n\", i, 8 * $2 / $1 + $1 / 100, 1 / i}"
END
chmod +x "$work/job"
json "bench reads iterations from JSON lines" '.run_count == 8 and .configuration_count == 4' \
  howmany bench "$work/job {n} {size}" --n 1,2,4,8 --size 1 --repeat 2 --json
expect "bench writes a table" 0 "seconds" howmany bench "$work/job {n} {size}" --n 1,2 --size 0.5,1 --repeat 1 --record "$work/b.csv"
check "the table has one row for each run" sh -c "[ \$(wc -l <$work/b.csv) = 5 ]"
check "a row has the median of the iterations and the last loss" sh -c "grep -q '^2,0.5,1,2.02,[0-9.]*,3,0.333333,ok,' $work/b.csv"
expect "bench appends to a table" 0 "" howmany bench "$work/job {n} {size}" --n 4 --size 0.5,1 --repeat 1 --record "$work/b.csv"
check "the fit includes the earlier rows" sh -c "[ \$(wc -l <$work/b.csv) = 7 ] && howmany fit $work/b.csv | grep -q '6 runs of 6'"
expect "other columns are refused" 2 "has other columns" howmany bench "$work/job {n} 1" --n 1,2 --record "$work/b.csv"
expect "json lines are recorded" 0 "" howmany bench "$work/job {n} 1" --n 1,2 --repeat 1 --record "$work/b.jsonl"
check "recorded JSON lines are read by fit" sh -c "jq -es 'length == 2 and .[0].status == \"ok\"' $work/b.jsonl && howmany fit $work/b.jsonl >/dev/null"
expect "a failed run is recorded and the others continue" 0 "n = 3: exit 7" howmany bench "$work/job {n} 1" --n 1,2,3,4 --repeat 1 --record "$work/c.csv"
check "the table marks the failed run" sh -c "grep -q '^3,1,,.*exit 7' $work/c.csv && grep -q '^4,.*ok' $work/c.csv"
expect "the last lines of a failed command are shown" 0 "no memory left" howmany bench "$work/job {n} 1" --n 2,3,4 --repeat 1
expect "a timeout is a failure" 0 "timeout" howmany bench "$work/job {n} 1" --n 1,2,5 --repeat 1 --timeout 300ms
in_torture && much=1000000000 || much=50000000
expect "a command that prints much is measured" 0 "2 runs" howmany bench --shell "head -c $much /dev/zero; echo {n}" --n 1,2 --repeat 1
expect "a command that prints binary data is measured" 0 "2 runs" howmany bench --shell 'head -c 1000000 /dev/urandom; echo {n}' --n 1,2 --repeat 1
expect "a command that leaves a daemon behind is measured" 0 "2 runs" howmany bench --shell 'setsid sleep 3 & echo {n}' --n 1,2 --repeat 1
expect "a command that never ends and ignores SIGTERM is ended" 1 "timeout" howmany bench --shell 'trap "" TERM; while :; do echo {n}; done' --n 1 --repeat 1 --timeout 300ms
expect "only failures exit 1" 1 "all runs failed" howmany bench "$work/job {n} 1" --n 3 --repeat 1
expect "a missing command is reported" 2 "cannot start 'no-such-command'" howmany bench 'no-such-command {n}' --n 1,2
expect "a regular expression finds iterations" 0 "2 runs of 2 configurations" \
  howmany bench "printf 'step took 25%s ms\\n' {n}" --n 1,2 --repeat 1 --iteration-regex 'took ([0-9.]+ ms)'
expect "lines of a framework are iterations" 0 "read from the output of nanoGPT" \
  howmany bench "printf 'iter 1: loss 2.5, time 25%s.0ms, mfu 1.0%%%%\\n' {n}" --n 1,2 --repeat 1
howmany bench --shell "echo '{\"iteration\":1,\"seconds\":0.25}' {n} >/dev/null; echo \"{'train_steps_per_second': 2.0}\"; echo '{\"iteration\":1,\"seconds\":0.25}'" --n 1,2 --repeat 1 --record "$work/framework.csv" >/dev/null 2>"$work/framework.err"
check "JSON lines take the place of a framework's summary" sh -c "[ \$(grep -c ',0.25,' '$work/framework.csv') = 2 ] && ! grep -q 'output of' '$work/framework.err'"
check "without a fit --json prints the runs" sh -c "howmany bench 'true {n}' --n 1 --repeat 2 --json 2>/dev/null | jq -e '.fit == null and (.reason | length) > 0 and (.runs | length) == 2 and .runs[1].n == 1 and .runs[1].seconds > 0'"
expect "and failed runs have no seconds" 1 '"seconds":null' howmany bench 'false {n}' --n 1,2 --repeat 1 --json
exec 7>"$work/go" && flock 7 # The command waits until the lock is released.
howmany bench --shell "echo >>'$work/starts'; flock '$work/go' true # {n}" --n 1 --repeat 1 >/dev/null 2>"$work/err" 7>&- &
bench=$!
stopped() { grep -q '^State:.T' "/proc/$bench/status"; }
wait_for 60 test -s "$work/starts" && kill -STOP $bench && wait_for 60 stopped
kill -CONT $bench
exec 7>&-
wait $bench
check "a run during which the program was stopped is repeated" test "$(wc -l <"$work/starts")" = 2 -a -n "$(grep 'a run is repeated' "$work/err")"
printf 'n,repeat,seconds,total,iterations,loss,status,host,started,startup,timing\n1,1,2,2,,,ok,a,b,,whole run\n2,1,1,' >"$work/half.csv"
expect "a record whose last row was cut is not continued, with what to do" 2 "if the row was cut, remove it and continue" howmany bench 'true {n}' --n 4 --repeat 1 --record "$work/half.csv"
expect "--dry-run checks the name of the record" 2 "must end in .csv or .jsonl" howmany bench 'true {n}' --n 1,2 --dry-run --record "$work/half.txt"
expect "--tight without --design is refused" 2 "--tight applies only with --design" howmany bench 'true {n}' --n 1,2 --tight 5%
expect "--max-repeat without --within is refused" 2 "--max-repeat applies only with --within" howmany bench 'true {n}' --n 1,2 --max-repeat 5
expect "--max-repeat below --repeat is refused" 2 "--max-repeat 2 is less than --repeat 3" howmany bench 'true {n}' --n 1,2 --within 5% --max-repeat 2
check "control characters of a command do not reach the terminal" sh -c "howmany bench --shell 'printf \"a\\302\\233b\\177c\" >&2; exit 3 # {n}' --n 1 --repeat 1 2>&1 | grep -q 'a  b c'"
mkdir "$work/mixed"
mkfifo "$work/mixed/pipe"
ln -s /proc/kmsg "$work/mixed/kmsg"
expect "pipes and files of the kernel in a folder are not read" 2 "there is no file that gives runs" timeout 60 howmany fit "$work/mixed"
expect "a regular expression that refers back is refused" 2 "refers back to a group" howmany bench 'true {n}' --n 1,2 --iteration-regex '(a*)([0-9]+)\1 s'
expect "a backslash in a list of characters refers to nothing" 0 "no line matched" howmany bench 'true {n}' --n 1,2 --repeat 1 --iteration-regex 'took ([\1]+)'
expect "the loss of a training too" 2 "--pattern: '(a)\1' refers back to a group" howmany steer --command 'true {n} {checkpoint} {resume}' --m 1 --reach 1 --pattern '(a)\1' --folder "$work/steered"
expect "only the start of a long line is searched" 0 "no line matched" howmany bench --shell 'printf "%4096s took 3\n" {n}' --n 1,2 --repeat 1 --iteration-regex 'took ([0-9]+)'
expect "a regular expression needs a group" 2 "has no group for the seconds" howmany bench 'true {n}' --n 1,2 --iteration-regex 'took'
expect "without iterations the whole run counts" 0 "no fit yet" howmany bench 'true {n}' --n 1 --repeat 1

# A command that prints no iterations, needs 50 ms to start and then 2 ms for each iteration.
cat >"$work/starts" <<'END'
#!/bin/sh
sleep "$(awk "BEGIN {print 0.05 + $1 * 0.002}")"
END
printf '#!/bin/sh\n[ "$1" = 1 ] && sleep 0.2\nexit 0\n' >"$work/longer"
chmod +x "$work/starts" "$work/longer"
expect "a run with its start-up is a warning" 0 "warning: 2 runs reported no iterations, so their seconds include the start-up" \
  howmany bench "$work/starts 10 {n}" --n 1,2 --repeat 1 --record "$work/start.csv"
expect "the table says that the seconds include the start-up" 0 "2 of 2 runs are those of the whole run, with its start-up" howmany fit "$work/start.csv"
json "JSON says how many runs include the start-up" '.with_startup == 2 and (.notes | any(test("start-up")))' howmany fit "$work/start.csv" --json
howmany bench "$work/starts {iterations} {n}" --n 1,2 --repeat 1 --iterations 5,105 --record "$work/lengths.csv" >"$work/out" 2>&1
check "two lengths separate the start-up" awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
  {bad += !($at["seconds"] > 0.0005 && $at["seconds"] < 0.01 && $at["total"] > 0.2 && $at["startup"] != "" && $at["timing"] == "difference" && $at["iterations"] == 105)}
  END {exit bad > 0 || NR != 3}' "$work/lengths.csv"
check "without start-up there is no warning" sh -c "! grep -q start-up '$work/out' && ! howmany fit '$work/lengths.csv' | grep -q start-up"
check "reported iterations need no second run" sh -c "howmany bench '$work/job {n} 1 {iterations}' --n 1,2 --repeat 1 --record '$work/once.csv' >/dev/null &&
  [ \$(grep -c ',iterations\$' '$work/once.csv') = 2 ]"
check "a dry run prints both lengths" [ "$(howmany bench './t {iterations} {n}' --n 1 --dry-run)" = "$(printf './t 30 1\n./t 10 1')" ]
expect "lengths without a placeholder are refused" 2 "applies only to a command with {iterations}" howmany bench 'true {n}' --n 1,2 --iterations 10,30
expect "one length is refused" 2 "a smaller and a larger number" howmany bench 'true {n} {iterations}' --n 1,2 --iterations 10
expect "equal lengths are refused" 2 "a smaller and a larger number" howmany bench 'true {n} {iterations}' --n 1,2 --iterations 10,10
expect "a broken length is refused" 2 "1.5 is not a whole number" howmany bench 'true {n} {iterations}' --n 1,2 --iterations 1.5,10
expect "lengths without a difference are a failure" 1 "more of them with --iterations" howmany bench "$work/longer {iterations} {n}" --n 1 --repeat 1 --iterations 1,2
expect "a dry run runs nothing" 0 "mpirun -n 4 ./train --fraction 0.2" howmany bench 'mpirun -n {n} ./train --fraction {size}' --n 1,2,4 --size 0.1,0.2 --dry-run
check "a dry run quotes arguments" sh -c "howmany bench 'printf \"%s b\" {n}' --n 1 --dry-run | grep -q \"'%s b'\""
expect "a pipe needs a shell" 2 "--shell' runs the command through sh" howmany bench 'cat {n} | wc' --n 1,2
expect "--shell runs a pipe" 0 "runs" howmany bench 'true {n} | cat' --n 1,2 --repeat 1 --shell
expect "an unknown placeholder is refused" 2 "{m}" howmany bench 'true {m} {n}' --n 1,2
expect "a placeholder that the command does not contain is refused" 2 "does not contain {size}, which has several values" howmany bench 'true {n}' --n 1,2 --size 1,2
expect "bench without values of n is refused" 2 "--n 1,2,4" howmany bench 'true'
expect "bench without a command is refused" 2 "the command is missing" howmany bench --n 1,2
expect "--warmup is not measured" 0 "" howmany bench "$work/job {n} 1" --n 1,2 --repeat 1 --warmup 2 --record "$work/w.csv"
check "only the repeats are rows" sh -c "[ \$(wc -l <$work/w.csv) = 3 ]"
json "--within repeats until the interval is narrow" '.run_count == 4' howmany bench "$work/job {n} 1" --n 1,2 --repeat 2 --within 1% --json
expect "--design chooses its runs" 0 "16 workers: " howmany bench "$work/job {n} {size}" --n 1,2,4,6,8 --size 0.25,0.5,1 --repeat 1 --design --target n=16,size=1 --tight 5% --terms '1,size/n,n'
howmany bench "$work/job {n} 1" --n 1,2,4,6,8 --repeat 1 --design --target 12 --record "$work/again.csv" >/dev/null 2>&1
before=$(wc -l <"$work/again.csv")
howmany bench "$work/job {n} 1" --n 1,2,4,6,8 --repeat 1 --design --target 12 --record "$work/again.csv" >/dev/null 2>&1
check "a design does not make recorded runs again" [ "$before" = "$(wc -l <"$work/again.csv")" ]
expect "--design needs a target" 2 "needs --target" howmany bench "$work/job {n} 1" --n 1,2 --design
expect "a record that cannot be written is reported" 2 "cannot open" howmany bench 'true {n}' --n 1,2 --record /nowhere/r.csv

expect "n below 1 is refused" 2 "n must be whole and at least 1" howmany bench 'sleep {n}' --n 0.5,30
expect "the order of --n and --size does not matter" 0 "./t 2 0.5" howmany bench './t {n} {size}' --size 0.5 --n 1,2 --dry-run
printf 'n,repeat,seconds,total,iterations,loss,status,host,started\n1,1,0.1,0.1,,,ok,h,x' >"$work/cut.csv"
expect "bench appends to a table without a final newline" 0 "" howmany bench 'true {n}' --n 2,4 --repeat 1 --record "$work/cut.csv"
check "the incomplete last line stays a row of its own" sh -c "[ \$(wc -l <$work/cut.csv) = 4 ] && howmany fit $work/cut.csv >/dev/null"
printf 'garbage\n' >"$work/garbage.jsonl"
check "a table of an earlier version keeps its columns" sh -c "awk -F, 'NF != 9' '$work/cut.csv' | grep -c . | grep -qx 0"
expect "a record that is not a table is refused" 2 "" howmany bench 'true {n}' --n 1,2 --record "$work/garbage.jsonl"
expect "a record with other quantities is refused" 2 "have no size" howmany bench 'true {n} {size}' --n 1,2 --size 1 --record "$work/b.jsonl"
expect "a name that is already a column is refused before any run" 2 "appears twice" howmany bench 'false {n} {cores}' --n 1,2 --vary cores=1,2
for quantity in Batch=2 job=1 x=1e60; do
  expect "so is $quantity, which a table does not keep as a number of this name" 2 "no numbers under the name '${quantity%=*}'" howmany bench 'false {n}' --n 1,2 --vary "$quantity"
done
printf '{"n":1,"lr":"auto","seconds":1}\n' >"$work/texts.jsonl"
expect "a record with texts for a quantity is refused" 2 "have no numbers for lr; give another file" howmany bench 'false {n}' --n 1,2 --vary lr=1 --record "$work/texts.jsonl"
expect "a size of 0 is refused before any run" 2 "must be more than 0" howmany bench 'false {n} {size}' --n 1,2 --size 0,1
expect "invalid terms are refused before any run" 2 "'foo'" howmany bench 'false {n}' --n 1,2,4 --terms 1,foo
expect "a target outside the axes is refused before any run" 2 "which is not an axis of the runs" howmany bench 'false {n}' --n 1,2 --design --target n=8,foo=3
expect "a design ends although one configuration fails" 0 "% at the target, after" timeout 60 howmany bench "$work/job {n} 1" --n 1,2,3,4 --repeat 1 --design --target 4
expect "a design of failures exits 1" 1 "all runs failed" howmany bench 'false {n}' --n 1,2,4 --repeat 1 --design --target 8
cat >"$work/nan" <<'END'
#!/bin/sh
echo '{"iteration":0,"seconds":0.5,"loss":NaN}'
echo '{"iteration":1,"seconds":0.5,"loss":-Infinity}'
END
chmod +x "$work/nan"
expect "a run with a NaN loss keeps its time" 0 "500 ms" howmany bench "$work/nan {n}" --n 1,2 --repeat 1
expect "a regular expression without a match is noted" 0 "no line matched --iteration-regex" howmany bench 'true {n}' --n 1,2 --repeat 1 --iteration-regex 'took ([0-9]+)'
timeout 60 howmany bench "$work/job {n} 1" --n 1,2,4 --repeat 1 --design --target 4096 --tight 0.0001% >/dev/null 2>"$work/d.err"
check "a design ends when runs no longer help" grep -q "do not help" "$work/d.err"

# Ctrl-C must keep the finished runs and end the command.
cat >"$work/slow" <<'END'
#!/bin/sh
[ "$1" = 2 ] && { echo $$ >"$(dirname "$0")/pid"; exec sleep 300; }
exit 0
END
chmod +x "$work/slow"
ctrl_c() {
  howmany bench "$work/slow {n}" --n 1,2 --repeat 1 --record "$work/i.csv" >"$work/i.out" 2>"$work/i.err" &
  local bench=$! i
  wait_for 30 test -s "$work/pid"
  kill -TERM $bench # as Ctrl-C; a shell lets its background jobs ignore SIGINT itself
  wait $bench
  local code=$?
  [ $code -eq 130 ] || { echo "exit $code"; return 1; }
  grep -q "the finished runs are kept" "$work/i.err" || return 1
  [ "$(wc -l <"$work/i.csv")" = 2 ] || { cat "$work/i.csv"; return 1; }
  ! kill -0 "$(cat "$work/pid")" 2>/dev/null
}
check "Ctrl-C keeps what was measured and ends the command" ctrl_c

# Unusual tables and questions.
{ echo n,seconds; for r in 0.995 0.9975 1 1.0025 1.005; do awk "BEGIN {for (n = 1; n <= 4; n *= 2) printf \"%d,%.6f\\n\", n, $r * (0.02 + 0.3 / n + 0.01 * log(n))}"; done; } >"$work/repeats.csv"
json "more repeats do not narrow the interval of an untested term" '.predictions[0] | .low_s < 0.066 and .high_s > 0.066' howmany fit "$work/repeats.csv" --target 64 --json
json "fit and plan agree on weak scaling" '.[0] == .[1]' sh -c "printf 'n,batch,seconds\n1,32,1.00\n2,64,1.05\n4,128,1.12\n8,256,1.18\n16,512,1.27\n' >$work/w.csv
  { howmany fit $work/w.csv --target 16 --json | jq '.predictions[0].speedup * 1e6 | round'; howmany plan --runs $work/w.csv --json --max-n 16 | jq '.curve[] | select(.n == 16).speedup * 1e6 | round'; } | jq -s ."
expect "an unknown name in a term gets the list of columns" 2 "the columns are n, size" howmany fit "$runs" --terms 1,m
printf '{"n":1,"latency_ms":2,"seconds":1}\n{"n":2,"latency_ms":3,"seconds":2}\n' >"$work/ms.jsonl"
json "keys of JSON lines may have a unit" '.run_count == 2' howmany fit "$work/ms.jsonl" --terms 1,n --json
printf '{"n":1,"time_ms":8000}\n{"n":2,"seconds":4}\n' >"$work/mixed.jsonl"
expect "different units in JSON lines are refused" 2 "mixed.jsonl:2: seconds: 'seconds' has another unit" howmany fit "$work/mixed.jsonl"
printf '[{"n":1,"seconds":2}]' >"$work/list.json"
expect "a JSON list is refused" 2 "one JSON object in each line" howmany fit "$work/list.json"
printf '# a, b, c\n# more, words\nn,seconds\n1,4\n2,2.2\n4,1.4\n' >"$work/comments.csv"
json "comments above the header are skipped" '.run_count == 3' howmany fit "$work/comments.csv" --json
printf 'n,seconds,commit\n1,4,12e45678\n2,2.2,aa\n4,1.4,7\n' >"$work/commit.csv"
json "labels that look like numbers are read" '.run_count == 3' howmany fit "$work/commit.csv" --json
printf 'n,seconds,status\n1,4,OK\n2,2.2,success\n4,1.4,Completed\n' >"$work/status.csv"
json "other names of the status ok are read" '.run_count == 3 and .failed_count == 0' howmany fit "$work/status.csv" --json
expect "a negative size is refused" 2 "must be finite and more than 0" howmany fit "$runs" --target n=64,size=-1
expect "a quantity of the target given twice is refused" 2 "given twice" howmany fit "$runs" --target n=64,n=32
expect "--predict with n in --target is refused" 2 "leave n out" howmany fit "$runs" --target 64 --predict 3
expect "plan refuses runs with speedups only" 2 "has speedups only" howmany plan --runs "$work/speedup.csv"
expect "--layers without a job is refused" 2 "the job has no network with layers" howmany plan --runs "$runs" --layers
printf 'n,batch,seconds\n1,64,2\n2,128,2.1\n4,256,2.2\n8,512,2.3\n16,1024,2.4\n' >"$work/weak.csv"
json "plan recognises weak scaling from runs" '.scaling == "weak" and .best.n > 16' howmany plan --runs "$work/weak.csv" --json
json "a time proportional to n is found" '[.terms[].term] == ["n"]' sh -c "printf 'n,seconds\n1,10\n2,20\n4,40\n8,80\n' | howmany fit - --json"
json "a design lists the values of other quantities" '[.runs[].where] | all(. != null)' howmany design --n 1,2,4 --vary batch=32,64 --terms '1,batch/n,batch' --budget 3 --json
expect "measured sizes without sizes of candidates are refused" 2 "the candidates have no size" howmany design --n 1..8 --have "$runs"
json "--fill spends the budget" '.cost <= 10 and .rounded < 20' howmany design --n 1..8 --size 4/256..32/256:20 --budget 10 --only "$only" --fill --json
json "2500 candidates without a budget are solved" '.candidate_count == 2500' timeout 20 howmany design --n 1..50 --size 0.02..1:50 --json

# validate --fits, on the published curves
if [ -d "$data/scaling" ]; then
  json "errors on 75 published curves stay within their bounds" '.auto.curves == 75 and .auto.median < 0.07 and .auto.inside >= 67 and .ernest.median > .auto.median and
    .sheet.curves >= 10' howmany validate --fits --data "$data" --json
else
  skip "errors on 75 published curves stay within their bounds" "no $data/scaling"
fi
if [ -f "$data/ernest/rcv1-parsed.csv" ]; then
  json "Ernest's file: coefficients and predictions" '([.terms[].value * 1e6 | round] == [1900127,162198212,1588324,0]) and
    ([.predictions[].time_s * 1e6 | round] == [44651564,16441283,12473531,11106575])' \
    howmany fit "$data/ernest/rcv1-parsed.csv" --terms '1,size/n,ln(n),n' --predict 4,16,32,60 --json
else
  skip "Ernest's file: coefficients and predictions" "no $data/ernest"
fi
expect "--answers checks the headline rule without a folder" 0 "need the folder of curves.csv (data in the source, or doc/howmany/data where installed): --data DIR" howmany validate --answers
jobs=$(grep -lE '^(compute|network|graph):' examples/*.yaml | grep -vE 'fig4|cluster-')
json "the headline rule holds for all examples" '.headline_held == .headline_checked and .headline_checked >= 13 and
  all(.headline[] | select(.skipped | not); .holds and .recommended <= .best and .slack == 0.05) and
  ([.headline[].example] | index("llama-3-70b") != null)' howmany validate --answers $jobs --json
torture "the table ends with the medians" sh -c 'howmany validate --fits --data data | grep -q "^auto    75 curves: median error"'
json "published curves are predicted: 7 % in the median, and 88 % or more of the intervals hold" '(.curves | length) == 75 and
  ([.curves[].source] | unique | length) == 11 and ([.curves[].auto.error] | sort | .[37] < 0.08) and
  ([.curves[].auto.inside | select(.)] | length) >= 66 and ([.curves[].auto.width] | sort | .[37] < 3.4)' \
  howmany validate --fits --data data --json
printf 'source,workload,scaling,batch_per_worker,metric,n,nodes,value\n' >"$work/curves.csv"
for n in 1 2 4 8 16 32; do printf 'a,x,weak,8,samples_per_s,%s,,%s\nb,x,weak,8,samples_per_s,%s,1,%s\n' $n $((100 * n)) $n $((90 * n)); done >>"$work/curves.csv"
json "--answers chooses the rule of a source from the others" '(.sources | length) == 2 and .all.inside == 2 and .all.median < 0.01 and
  (.rule | has("noise_weight") and has("weak_turn"))' howmany validate --answers --data "$work" --json
rm "$work/curves.csv"
printf 'n,workers_per_node,seconds\n1,8,1\n2,8,1.02\n4,8,1.05\n8,8,1.09\n' >"$work/node.csv"
expect "a prediction beyond the node of all runs says so" 0 "No run left its node of 8 workers" \
  howmany fit "$work/node.csv" --target 32
check "a plan beyond the node of all runs says so in its second line" sh -c "howmany plan '$work/node.csv' --n 32 --no-chart | sed -n 2p | grep -q 'No run left its node of 8 workers'"
check "a plan inside the node of all runs does not" sh -c "! howmany plan '$work/node.csv' --n 8 --no-chart | grep -q 'No run left its node'"
printf 'n,seconds\n1,100\n2,99.8\n4,99.6\n8,99.6\n16,99.5\n' >"$work/constant.csv"
json "a constant part of the time limits as serial work" '.limit.kind == "serial" and (.limit.why | test("do not shrink"))' howmany plan "$work/constant.csv" --json
printf 'n,tokens/s\n1,120000\n2,235000\n4,460000\n8,900000\n' >"$work/rates.csv"
check "a plan from rates gives a rate" sh -c "howmany plan '$work/rates.csv' --n 8 | head -1 | grep -qE '^Use 8 workers: (89[5-9]|90[0-5]),000 tokens/s \([0-9,]+ to [0-9,]+\), 7.5'"
expect "the cost of a rate is that of a million" 0 "node-seconds for a million tokens" howmany plan "$work/rates.csv" --n 8
json "the unit of a plan from rates is given" '.unit == "token"' howmany plan "$work/rates.csv" --json
printf 'n,seconds\n1,.158\n2,.158\n4,.158\n' >"$work/flat.csv"
expect "runs that do not get faster are asked for their scaling" 0 "a column scaling with the value weak" howmany fit "$work/flat.csv"
check "falling times need no such column" sh -c "! howmany fit '$runs' | grep -q 'with the value weak'"
printf 'n,seconds\n1,110\n2,60\n4,35\n8,22.5\n16,16.2\n' >"$work/rounded.csv"
check "a rounding error is not noted as an outlier" sh -c "! howmany plan '$work/rounded.csv' | grep -q outlier"
printf 'compute: 100 s/n\ncommunicate: 10 s\n' >"$work/constant.yaml"
expect "a constant communication is named as what does not shrink" 0 "takes 10 s," howmany plan "$work/constant.yaml"
json "--papers: the statements of the four papers" '(.statements | length) == 93 and ([.statements[] | select(.agrees)] | length) == 87 and
  ([.statements[] | select(.paper == "anwar" and .agrees)] | length) == 34 and all(.statements[] | select(.agrees or .skipped | not); .why != null) and
  ([.statements[] | select(.statement | test("PMLS|pmls ssp")) | .difference | fabs] | max) < 0.1' howmany validate --papers --data examples --json
# A number of workers that is held out must have nearly the same error over time and over iterations, because f(m) is fitted well.
json "--papers: errors over time are near those over iterations" '[.statements[] | select(.statement | test("Fig. 4")) | .ours] |
  length == 4 and (.[2] / .[0] - 1 | fabs) < 0.1 and (.[3] / .[1] - 1 | fabs) < 0.2' howmany validate --papers --data examples --json
expect "--papers without the training runs skips their statements" 0 "66 of 72 statements agree" howmany validate --papers
expect "--papers takes no files" 2 "--papers takes neither files" howmany validate --papers examples/fig1.yaml
printf 'compute: 1 s\ncommunicate: 0.02 s * log2(n)\nbatch: 1024\nscaling: weak\ndataset: 1281167\nepochs: {3072: 35, 16384: 47, 36864: 60, 65536: 85}\n' >"$work/epochs.yaml"
json "epochs that were measured by batch give the iterations to the target" '[.curve[] | .total_s / .time_s | round] == [14597, 3676, 2086, 1662]' \
  howmany plan "$work/epochs.yaml" --n 3,16,36,64 --json
json "between measured batches the epochs are interpolated in the logarithm" '(.curve[0].total_s / .curve[0].time_s | round) == ((35 + 12 * ((7168 / 3072 | log) / (16384 / 3072 | log))) * 1281167 / 7168 | ceil)' \
  howmany plan "$work/epochs.yaml" --n 7 --json
expect "a batch beyond the measured ones is noted" 0 "is larger than all with measured epochs, up to 65536" howmany plan "$work/epochs.yaml" --n 128
sed 's/^epochs.*/epochs: 30\ncritical_batch: 8192/' "$work/epochs.yaml" >"$work/critical.yaml"
json "a critical batch doubles the epochs there" '(.curve[0].total_s / .curve[0].time_s | round) == (60 * 1281167 / 8192 | ceil)' howmany plan "$work/critical.yaml" --n 8 --json
expect "a batch beyond the critical one is noted" 0 "is larger than the critical batch 8192" howmany plan "$work/critical.yaml" --n 64
sed 's/16384: 47/1000: 47/' "$work/epochs.yaml" >"$work/falls.yaml"
expect "batches of epochs must increase" 2 "epochs.1000: the batches must increase: 1000 after 3072" howmany plan "$work/falls.yaml"
sed 's/16384: 47/16384: -1/' "$work/epochs.yaml" >"$work/negative.yaml"
expect "epochs must be positive" 2 "epochs.16384" howmany plan "$work/negative.yaml"
sed 's/epochs: .*/epochs: {}/' "$work/epochs.yaml" >"$work/none.yaml"
expect "an empty table of epochs is refused" 2 "write BATCH: EPOCHS" howmany plan "$work/none.yaml"
expect "--fits without a folder is refused" 2 "--data DIR" howmany validate --fits
expect "--fits with an empty folder is refused" 2 "no tables in" howmany validate --fits --data "$work"
expect "runs cannot compare schemes" 2 "they cannot compare" howmany plan examples/resnet50.yaml --runs "$runs" --scheme ring,best
if command -v gnuplot >/dev/null; then
  check "design --plot draws the runs and what is known after each" sh -c "howmany design --n 1,2,4,8 --size 0.1,0.5,1 --budget 8 --plot $work/d.svg >/dev/null && grep -q 'n of the run, and its size below' $work/d.svg && grep -q 'variance that is left' $work/d.svg && grep -q '8 runs, most useful first' $work/d.svg"
fi

finish
