#!/usr/bin/env bash
# Tests howmany train on the command line: its output, algorithms, data, stopping criteria, records, checkpoints,
# failures of ranks, and launchers.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # Open MPI leaks memory
unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM # howmany sets them
mpi=${HM_REDUCE:+1} sim=${HM_SMPIMAIN:+1}
study=examples/cluster-study.yaml
two=1
[ "$mpi" ] && two=2
cd "$work" && ln -s "$HM_SOURCE/examples" examples

lines() { jq -c "$1" <"$work/out"; } # The output of the last run.
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }
# Prints the results of a run without its times.
learnt() { jq -c 'select(.iteration) | [.iteration, .epoch, .objective, .gap, .change, .accuracy, .bytes, .flop]'; }

# ---- output ----------------------------------------------------------------------------------
run howmany train -n $two -i 3
check "a run without any file" test "$code" -eq 0
check "a header, a line for each iteration, a summary" is "$(lines 'keys_unsorted[0]' | tr -d '\n')" '"run""iteration""iteration""iteration""summary"'
head_says() {
  lines 'select(.run)' | jq -e '.algorithm == "cocoa+" and .problem == "svm" and .data == "digits" and .n == '$two' and
    .seed == 1 and .scheme == "auto" and (.host | length) > 0 and (.version | length) > 0 and (.mpi | length) > 0 and
    .rows == 10000 and .features == 784 and .simulated == false'
}
check "the header describes the run" head_says
line_says() {
  lines 'select(.iteration == 3)' | jq -e '.epoch == 3 and .seconds > 0 and (.compute_s + .communicate_s - .seconds | fabs) < 1e-9 and
    .elapsed_s > .seconds and .objective < 1 and .gap > 0 and .samples_per_s > 0 and .flop > 1e5 and
    .bytes == '$([ $two = 2 ] && echo 12544 || echo 0)
}
check "an iteration has its times, objective, gap, speed, bytes and flop" line_says
check "the summary adds up" is "$(lines 'select(.iteration) | .flop' | jq -s add)" "$(lines 'select(.summary) | .flop')"
rank_of_another() { # in the environment of a rank of srun or mpirun
  for name in SLURM_PROCID PMI_RANK OMPI_COMM_WORLD_RANK; do
    env $name=1 howmany train -i 1 -d dense:50x3 | jq -se '.[-1].summary' || return 1
  done
}
check "prints although it is itself a rank of another job" rank_of_another
expect "a table with --text" 0 "all iterations done" howmany train -i 2 --text
expect "jq can read the JSON" 0 "" bash -c 'howmany train -i 2 --json | jq -e .'
expect "--dry-run prints the command" 0 "howmany-train --iterations=2" howmany train -i 2 --dry-run
check "a closed pipe ends the run without a message" bash -c 'howmany train --epochs 100000 2>left | head -n 1 >/dev/null; test ! -s left'

for where in '>/dev/full' '>&-'; do
  expect "a rank that cannot write its trace fails: $where" 2 "the trace cannot be written" bash -c "howmany-train --iterations=2 --data=dense:50x3 $where"
done

# Option -b for algorithms with mini-batches.
batch() { case $1 in sgd | momentum | adam | mini-sdca) echo "-b $2" ;; esac; }

progress() { # on a terminal, with the lines redirected
  script -qec "howmany train -d dense:2000x50 --iterations 10000000 --within 1500ms >/dev/null" /dev/null | tr '\r' '\n' | grep -q "iteration: [0-9]* of 10000000, about .* left"
}
if command -v script >/dev/null; then check "a terminal gets progress" progress; else skip "a terminal gets progress" "no script(1)"; fi

# ---- problems and algorithms -----------------------------------------------------------------
falls() { # COMMAND…: the last objective is below the first
  "$@" >"$work/out" || return 1
  jq -se '[.[] | select(.iteration) | .objective] | length > 1 and .[-1] < .[0] and .[-1] == .[-1]' "$work/out"
}
problems=(svm logistic squares)
for algorithm in gd lbfgs sgd momentum adam local-sgd splash cocoa cocoa+ mini-sdca; do
  problems=("${problems[@]:1}" "${problems[0]}") # Each algorithm begins with another problem.
  if in_torture; then some=3; else some=1; fi
  for problem in "${problems[@]:0:$some}"; do
    check "$problem by $algorithm" falls howmany train -p $problem -a $algorithm -d sparse:400x50 -i 60 $(batch $algorithm 40) -n $two
  done
done
if in_torture; then layered="gd lbfgs sgd momentum adam local-sgd"; else layered="lbfgs adam"; fi
for algorithm in $layered; do
  check "softmax by $algorithm" falls howmany train -p softmax -a $algorithm -d digits:300 --scale divide:255 -i 30 -n $two
  check "perceptron by $algorithm" falls howmany train -p perceptron --hidden 16,8 --activation sigmoid -a $algorithm -d digits:300 --scale divide:255 -i 30 -n $two
done
check "belief propagation converges" bash -c 'howmany train -p bp -d grid:20x20 -n '$two' | jq -e "select(.summary) | .stopped_by == \"tolerance\" and .change <= 1e-6"'
check "max-product finds the states" bash -c 'howmany train -p bp -d tree:50 --max-product --states 3 --beliefs b.csv | jq -e "select(.summary).stopped_by == \"tolerance\"" && test $(wc -l <b.csv) -eq 151'
printf 'MARKOV\n2\n2 2\n3\n1 0\n1 1\n2 0 1\n\n2\n 1 3\n2\n 2 2\n4\n 5 1 1 5\n' >two.uai
beliefs() { # p(x0) of the two variables: 1*(2*5+2*1) : 3*(2*1+2*5)
  howmany train -p bp -d two.uai --beliefs two.csv >/dev/null &&
    is "$(cat two.csv | tr '\n' ' ')" "vertex,state,belief 0,0,0.25 0,1,0.75 1,0,0.333333333 1,1,0.666666667 "
}
check "beliefs of a UAI file" beliefs
kept_beliefs() { # as on a full disk
  echo old >old.csv
  (ulimit -f 8; howmany train -p bp -d grid:60x60 -i 2 --beliefs old.csv >out 2>err)
  is "$? $(cat old.csv) $(grep -c 'old.csv cannot be written' err) $(ls -A | grep -c '^\.howmany')" "2 old 1 0"
}
check "an old file of beliefs stays if the new one cannot be completed" kept_beliefs
benched() {
  howmany bench 'howmany train -i 3 -d dense:{size}x10 -n {n}' -n 1 -s 100,200 --repeat 1 --record bench.csv >/dev/null
  is "$(awk -F, 'NR > 1 && $6 == 3 && $7 > 0' bench.csv | wc -l)" 2
}
check "bench can measure it: iterations and loss" benched

no_momentum() { # gives the results of sgd
  howmany train -d sparse:400x50 -a momentum --momentum 0 --step 0.5 -i 9 >one &&
    howmany train -d sparse:400x50 -a sgd --step 0.5 -i 9 >other && jq -se '.[0].momentum == 0' one &&
    is "$(jq -c 'select(.iteration).objective' one)" "$(jq -c 'select(.iteration).objective' other)"
}
check "a momentum of 0 is sgd" no_momentum

# ---- data ------------------------------------------------------------------------------------
same_rows() { # gd is not random: its results depend on the rows only
  howmany train -a gd -d dense:60x4 -i 3 --seed 7 --data-seed 1 | jq -c 'select(.iteration).objective' >other &&
    howmany train -a gd -d dense:60x4 -i 3 | jq -c 'select(.iteration).objective' >one && test -s one && cmp one other &&
    ! howmany train -a gd -d dense:60x4 -i 3 --seed 7 | jq -c 'select(.iteration).objective' | cmp -s - one
}
check "generated rows with their own seed" same_rows
printf '+1 1:1 3:2\n-1 2:1\n+1 1:0.5\n-1 3:-1 4:1\n' >tiny.svm
gzip -k tiny.svm
printf 'a,label,b\n1,5,2\n-1,7,0\n2,5,1\n0,9,-3\n' >tiny.csv
same_learning() { # OPTIONS OPTIONS: two runs have the same results
  howmany train -i 5 ${1} | learnt >one && howmany train -i 5 ${2} | learnt >other && test -s one && cmp one other
}
[ "$HM_ZLIB" = 1 ] && check "gz gives the same results as plain" same_learning "-d tiny.svm" "-d tiny.svm.gz"
check "dense and sparse rows give the same results" bash -c '
  for keep in dense sparse; do howmany train -d tiny.svm --keep $keep -i 9 | jq -r "select(.summary) | .objective * 1e9 | round"; done | uniq | wc -l | grep -qx 1'
expect "one label against the rest, of a CSV" 0 '"positive":7' howmany train -d tiny.csv --positive 7 -i 2
expect "a CSV's other column as label" 0 '"classes":4' howmany train -d tiny.csv --label-column b -p squares -i 2
expect "accuracy on test rows" 0 '"accuracy":1' howmany train -d tiny.svm --test tiny.svm -i 20
expect "squares: mean squared error on test rows" 0 '"test_error":0.' howmany train -p squares -d dense:200x5 --test dense:50x5 -i 9
expect "the table has the mean squared error" 0 'mean of the squared errors' howmany train -p squares -d dense:200x5 --test dense:50x5 -i 9 --text
sized() { printf '1 1:3%s 2:4%s\n0 1:-1%s\n1 2:2%s\n0\n' $1 $1 $1 $1 >"sized$1.svm"; }
any_size() { # rows scaled to norm 1 do not depend on their size before
  sized e0 && sized e300 && sized e-300 || return 1
  for size in e0 e300 e-300; do howmany train -d sized$size.svm --scale unit -i 9 | jq 'select(.summary).objective * 1e9 | round'; done >sizes
  is "$(uniq sizes | wc -l)" 1
}
check "rows of any size are scaled to norm 1" any_size
expect "standardised columns" 0 '"scale":"standardise"' howmany train -d tiny.csv --positive 5 --scale standardise -i 2
expect "one feature" 0 '"features":1' howmany train -d dense:50x1 -i 3
expect "more ranks than rows" 0 '"rows":4' howmany train -d tiny.svm -i 3 ${mpi:+-n 3}

# ---- stopping --------------------------------------------------------------------------------
expect "stops at a gap" 0 '"stopped_by":"gap"' howmany train -d sparse:400x50 --gap 1e-3
expect "stops near a known optimum" 0 '"stopped_by":"suboptimality"' howmany train -d sparse:400x50 --best 0.1 --suboptimality 0.5
expect "stops when the time is up" 0 '"stopped_by":"within"' howmany train -d sparse:400x50 --within 1ms
expect "the time limit holds before the first evaluation" 0 '"stopped_by":"within"' timeout 20 howmany train -d sparse:400x50 --within 10ms --look-every 1000000000
expect "stops when the algorithm has converged" 0 '"stopped_by":"settled"' howmany train -d dense:50x3 -p squares -a lbfgs --epochs 1000
expect "a step size that is too large diverges" 1 '"stopped_by":"diverged"' howmany train -d dense:50x3 -p squares -a sgd --step 1e200 -b 10
check "--look-every sets the evaluations" bash -c 'howmany train -d sparse:400x50 -i 10 --look-every 4 | jq -r "select(.iteration).iteration" | tr "\n" " " | grep -qx "4 8 10 "'
check "with mini-batches, one evaluation per epoch" bash -c 'howmany train -d sparse:400x50 -a sgd -b 100 --epochs 3 | jq -r "select(.iteration) | \"\(.iteration) \(.epoch)\"" | tr "\n" " " | grep -qx "4 1 8 2 12 3 "'

# ---- recording -------------------------------------------------------------------------------
recorded() {
  howmany train -i 2 -d tiny.svm --record r.csv >/dev/null && howmany train -i 3 -d tiny.svm --record r.csv >/dev/null &&
    is "$(wc -l <r.csv)" 6 && head -n 1 r.csv | grep -q '^algorithm,problem,data,n,seed,scheme,simulated,iteration,' &&
    howmany train -i 2 -d tiny.svm --record r.jsonl >/dev/null && is "$(jq -s length r.jsonl)" 4
}
check "traces are recorded and appended" recorded
any_bytes() { # a name that is not UTF-8, with a comma and quotes
  local name=$(printf 'b\xff,"ä.svm')
  cp tiny.svm "$name" && howmany train -i 2 -d "$name" --record bytes.csv | jq -se 'length == 4 and (.[0].data | test("ä.svm$"))' &&
    is "$(sed 's/"[^,]*,.*svm"/name/' bytes.csv | awk -F, '{print NF}' | uniq)" 25
}
check "a file's name may be of any bytes" any_bytes
expect "a record must be a table" 2 "must end in .csv or .jsonl" howmany train -i 2 --record r.txt
printf 'a,b\n1,2\n' >other.csv
full_in_background() { # where SIGINT is ignored
  (trap '' INT; howmany train --epochs 100000000 >/dev/full 2>full.err)
  is "$?$(wc -l <full.err)" 21 && grep -q "cannot write" full.err
}
check "a full disk ends the run, also in the background" full_in_background
expect "a file with other columns is not overwritten" 2 "has other columns" howmany train -i 2 --record other.csv

# ---- checkpoints -----------------------------------------------------------------------------
resumes() { # ALGORITHM N: 12 iterations at once, and 5 + 7
  local common="-d sparse:200x30 -a $1 -n $2 $(batch $1 20) --look-every 1 ${3:-}"
  rm -f ck
  howmany train $common -i 12 | learnt | tail -n 7 >whole
  howmany train $common -i 5 --checkpoint ck >/dev/null &&
    howmany train $common -i 12 --checkpoint ck --resume | learnt >rest && test -s rest && cmp whole rest
}
# The unit test test_checkpoint resumes every algorithm within one process.
if in_torture; then resumed="gd lbfgs sgd momentum adam local-sgd splash cocoa cocoa+ mini-sdca"; else resumed="lbfgs adam splash"; fi
for algorithm in $resumed; do
  check "$algorithm resumes bit for bit" resumes $algorithm $two
done
check "shrinking resumes bit for bit" resumes cocoa $two "--shrink --passes 5"
bp_resumes() {
  howmany train -p bp -d grid:9x9 --tolerance 0 -i 10 | learnt | tail -n 6 >whole
  howmany train -p bp -d grid:9x9 --tolerance 0 -i 4 --checkpoint bp.ck >/dev/null &&
    howmany train -p bp -d grid:9x9 --tolerance 0 -i 10 --checkpoint bp.ck --resume -n $two | jq -c 'select(.iteration) | [.iteration, .change]' >rest &&
    jq -c '[.[0], .[4]]' whole >want && cmp want rest
}
check "belief propagation resumes with another number of ranks" bp_resumes
howmany train -p bp -d two.uai --tolerance 0 -i 2 --checkpoint two.ck >/dev/null
sed -i 's/ 1 3/ 1 4/' two.uai
expect "a checkpoint of another field is refused" 2 "of another run: its identity" howmany train -p bp -d two.uai --tolerance 0 -i 4 --checkpoint two.ck --resume
printf '0 1\n1 2\n' >path.txt
howmany train -p bp -d path.txt --tolerance 0 -i 2 --checkpoint path.ck >/dev/null
printf '0 1\n0 2\n' >path.txt
expect "a checkpoint of another graph is refused" 2 "of another run: its identity" howmany train -p bp -d path.txt --tolerance 0 -i 4 --checkpoint path.ck --resume
other_n() {
  resumes cocoa+ 1 && howmany train -d sparse:200x30 -a cocoa+ -n $two -i 40 --look-every 1 --checkpoint ck --resume |
    jq -se '[.[] | select(.iteration)] | .[0].iteration == 13 and .[0].gap < 1 and .[-1].objective <= .[0].objective'
}
check "resumes from the same model with another number of ranks" other_n
scaled_other_n() { # means and deviations depend on the number of ranks in their last bits
  rm -f std.ck
  howmany train -d dense:200x7 --scale standardise -i 5 --checkpoint std.ck >/dev/null &&
    howmany train -d dense:200x7 --scale standardise -i 9 -n $two --checkpoint std.ck --resume | jq -se '.[0].resumed_at == 5 and .[-1].iterations == 9'
}
check "resumes with standardised columns" scaled_other_n
expect "a checkpoint with another scaling is refused" 2 "of another run: its identity" howmany train -d dense:200x7 -i 50 --checkpoint std.ck --resume
howmany train -p perceptron --hidden 4 -d digits:50 -i 3 --checkpoint layers.ck >/dev/null
expect "a checkpoint with another activation is refused" 2 "of another run: its identity" howmany train -p perceptron --hidden 4 --activation sigmoid -d digits:50 -i 5 --checkpoint layers.ck --resume
at_its_end() { # the same summary again, with the limit reached or exceeded
  rm -f end.ck
  howmany train -d sparse:200x30 -i 7 --checkpoint end.ck | jq -c 'select(.summary) | [.iterations, .epochs, .objective, .gap, .stopped_by]' >whole
  for i in 7 3; do
    howmany train -d sparse:200x30 -i $i --checkpoint end.ck --resume >again || return 1
    jq -c 'select(.summary) | [.iterations, .epochs, .objective, .gap, .stopped_by]' again | cmp - whole && is "$(learnt <again)" "" || return 1
  done
}
check "a finished run does no further iteration" at_its_end
expect "a checkpoint is not overwritten" 2 "ck exists already; continue from it with --resume" howmany train -d sparse:200x30 -i 2 --checkpoint ck
expect "--json excludes --text" 2 "--json and --text exclude each other" howmany train -i 2 --json --text
expect "a folder is no checkpoint" 2 "--checkpoint: 'nofolder/' is not the name of a file" howmany train -i 2 --checkpoint nofolder/
expect "a missing checkpoint is reported" 2 "there is no nowhere" howmany train -i 2 --checkpoint nowhere --resume
adopts() { # FROM TO: another algorithm goes on from the model, on another number of ranks, and reaches a smaller loss
  rm -f adopt.ck
  howmany train -d digits:800 --scale unit --lambda 1e-3 -a $1 -n 1 -i 6 --checkpoint adopt.ck >from || return 1
  howmany train -d digits:800 --scale unit --lambda 1e-3 -a $2 -n $two -i 30 --checkpoint adopt.ck --resume --adopt >to &&
    jq -se --slurpfile from from '.[0].resumed_at == 6 and .[-1].iterations == 30 and .[-1].objective < $from[-1].objective and .[1].objective < 0.5' to
}
pairs=("cocoa+ lbfgs" "splash cocoa+")
! in_torture || pairs+=("cocoa cocoa+" "lbfgs cocoa" "cocoa gd")
for pair in "${pairs[@]}"; do
  check "--adopt goes on from another algorithm: $pair" adopts $pair
done
same_dual() { # CoCoA and CoCoA+ are the same on one rank, so adopting the dual variables changes no bit
  rm -f dual.ck
  howmany train -d sparse:200x30 -a cocoa -i 12 --look-every 1 | learnt >whole
  howmany train -d sparse:200x30 -a cocoa -i 5 --look-every 1 --checkpoint dual.ck | learnt >/dev/null
  howmany train -d sparse:200x30 -a cocoa+ -i 12 --look-every 1 --checkpoint dual.ck --resume --adopt | learnt >rest
  tail -n 7 whole | cmp - rest
}
check "--adopt takes the dual variables" same_dual
expect "--adopt without --resume" 2 "--adopt: applies only with --resume" howmany train -d sparse:200x30 -i 2 --checkpoint new.ck --adopt
expect "--adopt of other data is refused" 2 "of another run: its identity" howmany train -d sparse:200x31 -a lbfgs -i 50 --checkpoint ck --resume --adopt
expect "a checkpoint of another algorithm is refused" 2 "its algorithm is 'cocoa+'" howmany train -d sparse:200x30 -a cocoa -i 50 --checkpoint ck --resume
expect "a checkpoint of other data is refused" 2 "of another run: its identity" howmany train -d sparse:200x31 -a cocoa+ -i 50 --checkpoint ck --resume
expect "a checkpoint with another lambda is refused" 2 "of another run: its identity" howmany train -d sparse:200x30 -a cocoa+ --lambda 1 -i 50 --checkpoint ck --resume
howmany train -a lbfgs -d sparse:200x30 -i 3 --checkpoint memory.ck >/dev/null
expect "a checkpoint with another memory is refused" 2 "memory and shrink must have the values of that run" howmany train -a lbfgs --memory 3 -d sparse:200x30 -i 5 --checkpoint memory.ck --resume
expect "a checkpoint without shrinking is refused for a run with it" 2 "memory and shrink must have the values of that run" howmany train -d sparse:200x30 --shrink -i 50 --checkpoint ck --resume
howmany train --shrink -d sparse:200x30 -i 3 --checkpoint shrink.ck >/dev/null
expect "a checkpoint with shrinking is refused for a run without it" 2 "memory and shrink must have the values of that run" howmany train -d sparse:200x30 -i 50 --checkpoint shrink.ck --resume
damage() { cp ck bad && printf '\001' | dd of=bad bs=1 seek="$1" conv=notrunc status=none; }
damage 900
expect "a damaged checkpoint is refused" 2 "bad: the checkpoint is damaged: its checksum does not match" howmany train -d sparse:200x30 -i 50 --checkpoint bad --resume
head -c 500 ck >bad
expect "a truncated checkpoint is refused" 2 "checksum does not match" howmany train -d sparse:200x30 -i 50 --checkpoint bad --resume
: >bad
expect "an empty checkpoint is refused" 2 "not a checkpoint" howmany train -d sparse:200x30 -i 50 --checkpoint bad --resume
expect "a checkpoint that cannot be written" 2 "cannot be written" howmany train -d sparse:200x30 -i 50 --checkpoint no/such/folder/ck
linked() { # a link to a checkpoint stays a link
  rm -f real.ck link.ck && ln -s real.ck link.ck && : >real.ck && rm real.ck && howmany train -d sparse:200x30 -i 2 --checkpoint real.ck >/dev/null &&
    howmany train -d sparse:200x30 -i 4 --checkpoint link.ck --resume >/dev/null && test -L link.ck && test ! -e link.ck.new
}
check "a link to a checkpoint stays one" linked
mkfifo pipe.ck
expect "a pipe is no checkpoint" 2 "pipe.ck" timeout 20 howmany train -d sparse:200x30 -i 2 --checkpoint pipe.ck
check "and it stays a pipe" test -p pipe.ck
expect "--every without --checkpoint is refused" 2 "needs a file" howmany train -i 2 --every 3
expect "--restarts without --checkpoint is refused" 2 "--restarts: it needs --checkpoint FILE" howmany train -i 2 --restarts 3

# ---- failures of ranks -----------------------------------------------------------------------------------
ranks_left() { pgrep -f "howmany-train.*$1"; }
no_ranks() { ! ranks_left "$1"; }
two_ranks() { [ "$(pgrep -fc "^[^ ]*howmany-train .*$1")" -ge 2 ]; }
# A long run; rank $1 is killed as soon as there is a checkpoint.
killed() { # RANK RESTARTS
  rm -f die.ck
  timeout 120 howmany train -d sparse:3000x100:0.2 --seed 77 -n 2 -i 400 --checkpoint die.ck --every 20 --restarts "$2" --json >died.out 2>died.err &
  local pid=$!
  wait_for 60 test -s die.ck
  kill_rank seed=77 "$1" || echo "# rank $1 is not there"
  wait $pid
}
if [ "$mpi" ]; then
  killed 1 0
  code=$?
  check "a killed rank ends the run" test $code -eq 1
  check "the run ends by itself" test $code -ne 124
  check "the message names the killed rank" grep -q "rank 1 has died" died.err
  none_left() { ! ranks_left seed=77; }
  check "no rank is left running" none_left
  howmany train -d sparse:3000x100:0.2 --seed 77 -n 2 -i 400 --json | learnt | tail -n 1 >whole
  killed 0 2
  check "a restarted run ends with the same result" bash -c "jq -c 'select(.iteration) | [.iteration, .epoch, .objective, .gap, .change, .accuracy, .bytes, .flop]' died.out | tail -n 1 | cmp - whole"
  check "the restart is in the trace" grep -qx '{"restart":1,"rank":0}' died.out
  lost() { # iterations done twice
    jq -s '[.[] | select(.iteration).iteration] | [range(1; length) as $i | .[$i - 1] - .[$i] + 1 | select(. > 0)] | max // 0' died.out
  }
  check "only iterations after the checkpoint are repeated" test "$(lost)" -le 20
  interrupted() {
    howmany train -d sparse:3000x100 --seed 78 -n 2 --within 60s --json >int.out 2>&1 &
    local pid=$!
    wait_for 30 grep -q '"iteration"' int.out
    kill -TERM $pid # SIGINT is ignored in the background
    wait $pid
    test $? -eq 130 && wait_for 5 no_ranks seed=78
  }
  check "a signal ends all ranks" interrupted
  killed_outright() { # ranks that print nothing get no SIGPIPE
    howmany train -d sparse:3000x100 --seed 79 -n 2 -i 1000000000 --look-every 1000000000 >/dev/null 2>&1 &
    local pid=$!
    wait_for 30 two_ranks seed=79
    kill -9 $pid
    wait $pid
    wait_for 5 no_ranks seed=79
  }
  check "killed with SIGKILL, it leaves no ranks running" killed_outright
  expect "a given launcher" 0 '"n":2' howmany train -i 1 --launcher "mpirun --allow-run-as-root --oversubscribe -n {n}" -n 2
  expect "a launcher without {n} is refused" 2 "has no {n} for the number of ranks" howmany train -i 1 --launcher "mpirun -n 3" -n 2
  printf '#!/bin/sh\nshift\n"$@" &\nrank=$!\nsleep 1\nkill -9 $rank\nexec sleep 100\n' >hanging
  chmod +x hanging
  expect "a launcher that does not notice the end of a rank" 1 "a rank has died and its launcher hangs" timeout 120 howmany train --within 60s --launcher "./hanging {n}"
  expect "a missing launcher is reported" 2 "does not start" howmany train -i 1 --launcher "no-such-launcher {n}" -n 2
  wrong_by_hand() {
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n 2 howmany-train --data missing.svm 2>&1 | grep -c '^howmany: missing.svm' | grep -qx 1
  }
  check "started by hand, the ranks print one message" wrong_by_hand
else
  skip "failures and launchers" "built without MPI"
  expect "built without MPI: a message" 2 "has no MPI" howmany train -n 2 -i 1
fi
finish
