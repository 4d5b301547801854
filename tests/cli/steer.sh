#!/usr/bin/env bash
# Tests steered training: a program of the user with a scripted loss, a small simulated training, real ranks, kill -9
# of the command and of ranks, the log of decisions, and wrong usage with its messages.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # Open MPI does not free all its memory.
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }
cluster=$HM_SOURCE/examples/cluster-study.yaml
cd "$work" || exit 1

# ---- wrong usage -----------------------------------------------------------------------------
small() { # LINES…: a file, with lines of its own at the end
  printf '%s\n' 'train: {data: digits:600, lambda: 1e-3, scale: unit}' 'algorithms: [cocoa, cocoa+, lbfgs]' 'm: 1..4' 'loss: 1e-2' 'budget: 1 s' "$@"
}
small >small.yaml
expect "neither file nor command" 2 "give a study's file or --command; see 'howmany help steer'" howmany steer
expect "a file and a command" 2 "give a study's file or --command, not both" howmany steer small.yaml --command true
expect "a second file" 2 "give one file only; 'b' is another" howmany steer a b
expect "a missing file" 2 "nowhere.yaml: cannot open" howmany steer nowhere.yaml
expect "nothing to reach" 2 "steer: nothing to reach; give --reach P, or --loss X with --best P" howmany steer --command 'a {n} {checkpoint} {resume}' --m 1,2
expect "a loss without the least one" 2 "give it with --best, or give --reach P" howmany steer small.yaml
expect "a target below the least loss" 2 "--reach: 0.1 is not above the least possible loss, 0.2" howmany steer small.yaml --reach 0.1 --best 0.2
expect "no {n}" 2 "--command: it has no {n}" howmany steer --command 'a {checkpoint} {resume}' --m 1,2 --reach 1
expect "no {checkpoint}" 2 "--command: it has no {checkpoint}" howmany steer --command 'a {n} {resume}' --m 1,2 --reach 1
expect "no {resume}" 2 "--command: it has no {resume}" howmany steer --command 'a {n} {checkpoint}' --m 1,2 --reach 1
expect "no {algorithm}" 2 "--command: it has no {algorithm}, but --algorithms names several" howmany steer --command 'a {n} {checkpoint} {resume}' --m 1,2 --algorithms a,b --reach 1
expect "an unknown placeholder" 2 "{what}" howmany steer --command 'a {n} {checkpoint} {resume} {what}' --m 1,2 --reach 1
expect "no numbers of workers" 2 "--command needs --m" howmany steer --command 'a {n} {checkpoint} {resume}' --reach 1
expect "a number of workers that is none" 2 "--m: 1.5 is not a whole number" howmany steer --command 'a {n} {checkpoint} {resume}' --m 1.5,2 --reach 1
expect "a pattern that is none" 2 "--pattern: '(': " howmany steer --command 'a {n} {checkpoint} {resume}' --m 1,2 --reach 1 --pattern '('
expect "a pattern without a group" 2 "--pattern: 'loss' has no group" howmany steer --command 'a {n} {checkpoint} {resume}' --m 1,2 --reach 1 --pattern loss
expect "a cost without a price" 2 "--cost: it needs the price of a worker" howmany steer small.yaml --reach 0.5 --cost '$1'
expect "--nodes with real ranks" 2 "--nodes: it applies only to simulated ranks" howmany steer small.yaml --reach 0.5 --nodes 4
expect "--set without a file" 2 "--set: it changes a file, and there is none" howmany steer --command 'a {n} {checkpoint} {resume}' --m 1 --reach 1 --set a=b
expect "--m with a file" 2 "--m: it applies only with --command; the file has the key m" howmany steer small.yaml --m 1,2 --reach 1
expect "an option that steer sets" 2 "train.checkpoint: is set by the study" howmany steer small.yaml --set train.checkpoint=x --reach 1
expect "a program that does not exist" 2 "no-such-program does not start" howmany steer --command 'no-such-program {n} {checkpoint} {resume}' --m 1 --reach 1 --folder none.steer
locked() { # FOLDER COMMAND…: is refused while another process has the lock
  mkdir "$1" && exec 8<"$1" && flock -n 8 || return 1
  run "${@:2}"
  exec 8<&-
  [ "$code" -eq 2 ] && [ -z "$(ls -A "$1")" ] && grep -q "another howmany works in the folder $1" err
}
check "a folder in which another command works is refused" locked busy howmany steer --command 'true {n} {checkpoint} {resume}' --m 1 --reach 1 --folder busy
dry() {
  howmany steer small.yaml --reach 0.3 --dry-run >dry && test ! -e small.steer && is "$(grep -o -- '--algorithm=[^ ]*' dry | tr '\n' ' ')" "--algorithm=cocoa+ --algorithm=cocoa --algorithm=lbfgs " &&
    is "$(grep -c -- --n=2 dry)" 3
}
check "--dry-run prints the first pieces and makes none" dry

# ---- a program of the user -------------------------------------------------------------------
# The loss of this program falls by a factor in each iteration, faster with the algorithm "fast"; two workers are the fastest.
cat >toy.sh <<'END'
#!/usr/bin/env bash
n=$1 algorithm=$2 state=$3 i=0 loss=1000000
[ "${4:-}" != --resume ] || read -r i loss <"$state"
case $algorithm in fast) keep=60 ;; *) keep=95 ;; esac
case $n in 2) pause=0.01 ;; *) pause=0.06 ;; esac
for ((k = 0; k < 400; k++)); do
  sleep "$pause"
  i=$((i + 1)) loss=$((loss * keep / 100))
  echo "$i $loss" >"$state.new" && mv "$state.new" "$state"
  [ ! -e die-at-$i ] || { rm "die-at-$i"; kill -9 $$; }
  printf '%s{"iteration":%d,"loss":0.%06d%s}\n' "${PREFIX:-}" "$i" "$loss" "${MORE:-}"
done
END
chmod +x toy.sh
toy() { howmany steer --command './toy.sh {n} {algorithm} {checkpoint} {resume}' --m 1,2,4 --algorithms slow,fast --reach 0.001 "$@"; }
run toy --folder toy.steer
cp "$work/out" toy.out
check "the program reaches the loss" test "$code" -eq 0
# A trial of the slower algorithm may come first; every later frame must run the faster one.
check "the faster algorithm is chosen after the trials" jq -se 'map(select(.why != "trial")) | length > 0 and all(.algorithm == "fast")' toy.steer/decisions.jsonl
# On a busy machine a frame may end before its first iteration does.
log() {
  jq -se '(.[0] | .frame == 0 and .why == "trial" and .algorithm == "slow" and .n == 2 and .achieved_loss < 1) and
    (map(select(.frame > 0 and .why != "trial")) | length > 0 and all((.reason | length) > 0 and .expected_s > 0 and
      .expected_loss < .from_loss and .achieved_loss <= .from_loss and .ended_s > .at_s)) and
    (.[-1].achieved_loss <= 0.001)' toy.steer/decisions.jsonl || { cat toy.steer/decisions.jsonl; return 1; }
}
check "the log says why, what was expected and what was achieved" log
check "the report is HTML and loads nothing else" bash -c 'grep -qi "<html" toy.steer/report.html && grep -q "<svg" toy.steer/report.html && ! grep -oiE "(src|href)=.?https?:" toy.steer/report.html'
carried() { # the second line starts from the checkpoint of the first
  head -n 1 toy.steer/piece-0001.jsonl | jq -e '.resumed and .algorithm == "fast"' && sed -n 2p toy.steer/piece-0001.jsonl | jq -e '.iteration == 1 and .loss < 0.6'
}
check "another algorithm goes on from the checkpoint" carried
again() {
  ls -l --time-style=full-iso toy.steer/piece-*.jsonl >before && toy --folder toy.steer >again && cmp toy.out again && ls -l --time-style=full-iso toy.steer/piece-*.jsonl | cmp - before
}
check "a second start makes no piece and gives the same result" again
expect "a folder of another training" 2 "toy.steer has a training of another problem, or with other choices" toy --folder toy.steer --seed 2
expect "a damaged piece" 2 "piece-0001.jsonl is damaged" bash -c "cp -r toy.steer damaged && echo nonsense >damaged/piece-0001.jsonl && howmany steer --command './toy.sh {n} {algorithm} {checkpoint} {resume}' --m 1,2,4 --algorithms slow,fast --reach 0.001 --folder damaged"
expect "a piece that cannot be read is not called damaged" 2 "piece-0001.jsonl cannot be read: Is a directory" bash -c "rm damaged/piece-0001.jsonl && mkdir damaged/piece-0001.jsonl && howmany steer --command './toy.sh {n} {algorithm} {checkpoint} {resume}' --m 1,2,4 --algorithms slow,fast --reach 0.001 --folder damaged"
touch die-at-3
dies() { toy --folder dies.steer >out 2>err && grep -q "slow on 2 workers failed\|fast on . workers failed" err && test ! -e die-at-3; }
check "a program that dies is started again from its checkpoint" dies
impossible() {
  MORE=',"seconds":-5' howmany steer --command './toy.sh {n} fast {checkpoint} {resume}' --m 2 --reach 0.001 --folder negative.steer >/dev/null
  jq -se 'map(.seconds // empty) | length > 0 and min > 1e-6' negative.steer/piece-0000.jsonl
}
check "a reported time that no iteration can have is not used" impossible
matched() { PREFIX='loss ' howmany steer --command './toy.sh {n} fast {checkpoint} {resume}' --m 2 --reach 0.001 --pattern '"loss":([0-9.]+)' --folder pattern.steer | grep -q '^Reached'; }
check "--pattern finds the loss in other lines" matched
expect "--within ends the training" 1 "the time is over" toy --within 50ms --folder within.steer
check "more time continues it" bash -c "howmany steer --command './toy.sh {n} {algorithm} {checkpoint} {resume}' --m 1,2,4 --algorithms slow,fast --reach 0.001 --folder within.steer | grep -q ^Reached"
# A program whose first three starts never end an iteration, as on a machine that is very busy: the trials of both algorithms
# and the first frame get no point. Later starts go on as usual.
cat >late.sh <<'END'
#!/usr/bin/env bash
echo start >>starts
[ "$(wc -l <starts)" -gt 3 ] || exec sleep 60
exec ./toy.sh "$@"
END
chmod +x late.sh
late() { howmany steer --command './late.sh {n} {algorithm} {checkpoint} {resume}' --m 1,2,4 --algorithms slow,fast --reach 0.001 --folder late.steer "$@"; }
expect "a training without time for an iteration" 1 "no loss was reported" late --within 50ms
goes_on() {
  late >out && grep -q '^Reached' out && is "$(cat late.steer/piece-*.jsonl | jq -r '.ended // empty' | head -n 3 | tr '\n' ' ')" "idle idle idle " &&
    is "$(jq -r 'select(.frame == 1) | .reason' late.steer/decisions.jsonl)" "no loss is known yet" &&
    ls -l --time-style=full-iso late.steer/piece-*.jsonl >before && late >again && cmp out again && ls -l --time-style=full-iso late.steer/piece-*.jsonl | cmp - before
}
check "runs that had no time for an iteration start again" goes_on
expect "--cost ends the training" 1 "the budget is spent" toy --cost '$0.0001' --price '$1/h' --folder cost.steer
cat >silent.sh <<'END'
#!/bin/sh
exit 3
END
chmod +x silent.sh
expect "a program that always fails" 1 "no line can go on" howmany steer --command './silent.sh {n} {checkpoint} {resume}' --m 1 --reach 1 --folder silent.steer
check "without a loss the result says so" grep -q "no loss was reported" "$work/out"

pieces() { [ "$(ls "$1"/piece-*.jsonl 2>/dev/null | wc -l)" -ge "$2" ]; }
killed_toy() {
  (exec howmany steer --command './toy.sh {n} {algorithm} {checkpoint} {resume}' --m 1,2,4 --algorithms slow,fast --reach 0.001 --folder killed.steer >out 2>err) &
  local pid=$!
  wait_for 60 pieces killed.steer 2
  kill -9 $pid
  wait $pid 2>/dev/null
  cat killed.steer/piece-0000.jsonl killed.steer/piece-0001.jsonl >before
  toy --folder killed.steer >out && grep -q '^Reached' out && cat killed.steer/piece-0000.jsonl killed.steer/piece-0001.jsonl | cmp - before
}
check "after kill -9 the training continues" killed_toy

# ---- real ranks ------------------------------------------------------------------------------
if [ -z "${HM_REDUCE:-}" ]; then
  skip "a training on real ranks" "built without MPI"
else
  small | sed 's/1\.\.4/[1, 2]/; s/cocoa, cocoa+, lbfgs/cocoa, lbfgs/' >real.yaml
  real() {
    howmany steer real.yaml --reach 0.32 --folder real.steer --json >real.json && jq -e '.status == "ok" and .loss <= 0.32 and .time_s > 0' real.json &&
      jq -se '[.[] | select(.frame == 0)] | length >= 1' real.steer/decisions.jsonl
  }
  check "real ranks reach the loss" real
  lost_rank() {
    howmany steer real.yaml --set 'm=[2]' --set 'train.data=digits:20000' --set train.lambda=1e-5 --reach 0.02 --within 3s --folder lost.steer >out 2>err &
    local pid=$!
    kill_rank lost.steer/piece 1
    wait $pid
    local ended=$?
    { [ $ended -eq 0 ] || [ $ended -eq 1 ]; } && test -s lost.steer/report.html && ls lost.steer/piece-*.jsonl && ! grep -h '"ended"' lost.steer/piece-*.jsonl | grep -q '"failed"'
  }
  check "a rank that dies is started again" lost_rank
fi

# ---- simulated ranks -------------------------------------------------------------------------
if [ -z "${HM_SMPIMAIN:-}" ]; then
  skip "a simulated training" "built without SimGrid, or with sanitizers"
  finish
fi
small "simulate: $cluster" >sim.yaml
sim() { howmany steer sim.yaml --best 0.2 --reach 0.325 "$@"; }
run sim --folder sim.steer --json
printf '%s\n' "$out" >sim.json
check "a simulated training reaches the loss" jq -e '.status == "ok" and .stopped_by == "loss" and .loss <= 0.325' sim.json
totals() { # the time is that of the point that reached the loss, with the trials; workers that waited count too
  jq -e '.time_s > 0 and .explore_s <= .time_s and .worker_s > .time_s and .trials >= 3' sim.json &&
    is "$(cat sim.steer/piece-*.jsonl | jq -s '[.[] | select(.loss and .loss <= 0.325) | .clock_s] | min')" "$(jq .time_s sim.json)"
}
check "the time includes the trials" totals
alone() {
  sim --one-at-a-time --folder alone.steer --json >alone.json && jq -e '.status == "ok"' alone.json &&
    jq -se '([.[] | select(.why == "trial") | .at_s] | . == sort and (unique | length) == length) and
      all(.ended_s >= .at_s and (.expected_s == null or .expected_s > 0))' alone.steer/decisions.jsonl
}
check "--one-at-a-time makes trials one after another" alone
unreachable() { # no line may have more iterations than the file says
  sim --set iterations=20 --best 0.001 --reach 0.002 --folder unreachable.steer >out
  is $? 1 && grep -q '^Not reached: no line can go on' out && is "$(cat unreachable.steer/piece-*.jsonl | jq -s '[.[].raw_count // 0] | max')" 20
}
check "a loss that cannot be reached ends the training" unreachable
killed() {
  (exec howmany steer sim.yaml --best 0.2 --reach 0.325 --folder broken.steer --json >out 2>err) &
  local pid=$!
  wait_for 60 pieces broken.steer 3
  kill -9 $pid
  wait $pid 2>/dev/null
  sim --folder broken.steer --json >continued.json && cmp sim.json continued.json && cmp sim.steer/decisions.jsonl broken.steer/decisions.jsonl && cmp sim.steer/report.html broken.steer/report.html
}
check "after kill -9 the result is the same to the last byte" killed
finish
