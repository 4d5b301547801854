#!/usr/bin/env bash
# Tests howmany lab: usage errors, printed commands, and real labs: round trips, bandwidth,
# MPI across nodes, and complete removal after any process was killed. Real labs need root.
. "$(dirname "$0")/lib.sh"
export ASAN_OPTIONS=detect_leaks=0 # Open MPI does not free all its memory.
unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM # howmany sets them itself.
lab=t$$ # Prefix of the names of all labs of this test.

remove_all() {
  for letter in '' a b c d e f g h; do howmany lab down --name "$lab$letter"; done
  ip netns delete "${lab}c-2"
  rm -rf "$work"
} >/dev/null 2>&1
trap remove_all EXIT

# ---- usage errors ----------------------------------------------------------------------------
expect "a missing action is refused" 2 "lab: name an action, up, run, status or down" howmany lab
expect "an unknown action gets a suggestion" 2 "there is no action 'stats'; did you mean status?" howmany lab stats
expect "an unknown action gets the list of actions" 2 "lab: there is no action 'frobnicate': use up, run, status or down" howmany lab frobnicate
expect "an operand of lab down is refused" 2 "lab down: unexpected operand 'now'" howmany lab down now
expect "an unknown option gets a suggestion" 2 "there is no option '--latencyy'; did you mean --latency?" howmany lab up --latencyy 1ms
expect "an option of another action is refused" 2 "lab down: --latency does not apply" howmany lab down --latency 1ms
expect "lab up without --n is refused" 2 "lab up: the number of nodes is missing" howmany lab up --latency 20ms
for n in 0 65 2.5 -1 x; do
  expect "$n nodes" 2 "--n" howmany lab up -n $n --dry-run
done
expect "a negative latency is refused" 2 "--latency" howmany lab up -n 2 --latency -20ms --way netem --dry-run
expect "a latency above 10 s is refused" 2 "--latency: must be from 0 to 10 s" howmany lab up -n 2 --latency 2min --way netem --dry-run
expect "a latency without a unit is refused" 2 "--latency" howmany lab up -n 2 --latency 20 --way netem --dry-run
expect "vde refuses a fraction of a millisecond" 2 "--latency: 0.5 ms is not a whole number of milliseconds" howmany lab up -n 2 --latency 0.5ms --way vde --dry-run
expect "the message names the nearest latencies" 2 "0 ms or 1 ms" howmany lab up -n 2 --latency 0.5ms --way vde --dry-run
expect "a bandwidth of 0 is refused" 2 "--bandwidth: '0' is not more than 0" howmany lab up -n 2 --bandwidth 0 --dry-run
expect "a bandwidth below 10 kbit/s is refused" 2 "--bandwidth: must be from 10 kbit/s to 1 Tbit/s" howmany lab up -n 2 --bandwidth 1bit/s --dry-run
expect "a loss of 100 % is refused" 2 "--loss: must be from 0 to below 100 %" howmany lab up -n 2 --loss 100% --way netem --dry-run
expect "a negative loss is refused" 2 "--loss" howmany lab up -n 2 --loss -1% --way netem --dry-run
expect "an unknown --way is refused" 2 "--way: 'magic' is not netem, vde or plain" howmany lab up -n 2 --way magic
expect "--way plain with a latency is refused" 2 "--way: 'plain' has neither latency nor loss" howmany lab up -n 2 --latency 1ms --way plain --dry-run
for bad in Lab 1lab 'my lab' ../etc lab- ''; do
  expect "a lab cannot be called '$bad'" 2 "--name: '$bad' cannot be the name of a lab" howmany lab up -n 2 --name "$bad" --dry-run
done
expect "lab run without a command is refused" 2 "lab run: the command is missing" howmany lab run --name "$lab"
expect "lab run without -- is refused" 2 "lab run: put -- before the command: howmany lab run -- mpirun" howmany lab run --name "$lab" mpirun -n 2 hostname
expect "lab agent without a command is refused" 2 "lab agent: it takes a node and a command" howmany lab agent --name "$lab" -- "$lab-1"

# ---- printed commands ------------------------------------------------------------------------
run howmany lab up -n 2 --latency 20ms --bandwidth 1Gbit/s --loss 0.1% --way netem --dry-run
check "netem's commands are printed" grep -qx "tc -n howmany-net qdisc add dev lab2 root handle 1: netem limit 3303 delay 20ms loss 0.1%" "$work/out"
run howmany lab up -n 2 --latency 5ms --way vde --dry-run
check "vde's commands are printed" grep -q "wirefilter .* --delay RL5 --loss RL0 &$" "$work/out"
run howmany lab up -n 2 --dry-run
check "without latency and loss only veth pairs and a bridge are created" sh -c "! grep -E 'vde|netem|tbf' $work/out && grep -q 'type bridge' $work/out"
check "a dry run creates nothing" test ! -e /run/netns/howmany-net

# ---- no root ---------------------------------------------------------------------------------
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$work" && cp "$HM_PROGRAM" "$work/howmany" && chmod 755 "$work/howmany"
  as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$work/howmany" "$@"; }
else
  as_nobody() { howmany "$@"; }
fi
expect "lab up without root is refused" 2 "lab up: it needs root, since it makes network namespaces: sudo howmany lab up …" as_nobody lab up -n 2 --name "$lab"
expect "lab down without root is refused" 2 "lab down: it needs root" as_nobody lab down --name "$lab"
expect "lab run without root is refused" 2 "lab run: it needs root" as_nobody lab run --name "$lab" -- true
expect "lab status without root is refused" 2 "lab status: it needs root" as_nobody lab status --name "$lab"
expect "a dry run needs no root" 0 "ip netns add howmany-net" as_nobody lab up -n 2 --latency 20ms --dry-run

# ---- real labs -------------------------------------------------------------------------------
missing=
[ "$(id -u)" = 0 ] || missing="it needs root"
for program in ip tc ping vde_switch wirefilter; do
  PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || missing="it needs $program"
done
[ "$missing" ] || unshare --net true 2>/dev/null || missing="it needs network namespaces"
[ "$missing" ] || [ -e /dev/net/tun ] || missing="it needs /dev/net/tun"
if [ "$missing" ]; then
  skip "labs that are made: delays, bandwidth, MPI, cleaning up" "$missing"
  finish
fi
PATH=$PATH:/usr/sbin:/sbin
mpi=${HM_REDUCE:+1}

# Find processes by the lab's folder in their arguments; grep reads the pattern from a file so as not to find itself.
left() {
  echo "/run/howmany/$1/" >"$work/pattern"
  ls -d /run/netns/"$1"-* "/run/howmany/$1" 2>/dev/null
  grep -laF -f "$work/pattern" /proc/[0-9]*/cmdline 2>/dev/null
}
nothing_left() { [ -z "$(left "$1")" ]; }
is_gone() { wait_for 5 nothing_left "$1" || { echo "left: $(left "$1")"; return 1; }; } # a killed process ends a moment later
links() { ip -o link | awk '{print $2}' | sort; }
before=$(links)

# The median round trip of ping, in ms, from node 1.
trip() { # name node
  howmany lab run --name "$1" -- ping -n -c 9 -i 0.05 "$1-$2" | sed -n 's/.*time=\([0-9.]*\) ms/\1/p' | sort -n | sed -n 5p
}
within() { # value least most
  awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN {if (v == "" || v < a || v > b) {print "it is '"'"'" v "'"'"', not " a " to " b; exit 1}}'
}

expect "status of a missing lab exits 1" 1 "there is no lab '$lab'" howmany lab status --name "$lab"
expect "down of a missing lab exits 1" 1 "there is no lab '$lab'" howmany lab down --name "$lab"
expect "run in a missing lab exits 1" 1 "there is no lab '$lab'" howmany lab run --name "$lab" -- true

expect "lab up creates a lab" 0 "lab $lab is up: 3 nodes, 20.0 ms one way, 1.00 Gbit/s, by vde" howmany lab up -n 3 --latency 20ms --bandwidth 1Gbit/s --way vde --name "$lab"
check "a ping takes 40 ms, two latencies" within "$(trip "$lab" 2)" 37 43
check "a ping to the third node takes 40 ms" within "$(trip "$lab" 3)" 37 43
check "a ping of a node to itself takes less than 5 ms" within "$(trip "$lab" 1)" 0 5
expect "a second lab up is refused" 2 "lab '$lab' is up already, with 3 nodes" howmany lab up -n 2 --name "$lab"
run howmany lab status --name "$lab" --json
check "status as JSON" jq -e '.lab == "'"$lab"'" and .n == 3 and .latency_s == 0.02 and .bandwidth == 125000000 and .way == "vde" and (.nodes | length) == 3 and
  .nodes[1].name == "'"$lab"'-2" and .nodes[1].address == "10.87.0.2" and .nodes[1].round_trip_s > 0.037' "$work/out"

# ---- run -------------------------------------------------------------------------------------
same() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }
in_lab() { howmany lab run --name "$lab" "$@"; }
check "placeholders in the command are replaced" same "$(in_lab -- echo {n} {hosts} {first} {name} {hostfile})" \
  "3 $lab-1,$lab-2,$lab-3 10.87.0.1 $lab /run/howmany/$lab/hostfile-3"
check "--n limits the nodes" same "$(in_lab -n 2 -- echo {n} {hosts})" "2 $lab-1,$lab-2"
check "a node has its name" same "$(in_lab --on 2 -- hostname)" "$lab-2"
check "--on accepts an address" same "$(in_lab --on 10.87.0.3 -- hostname)" "$lab-3"
check "the host name of the machine does not change" test "$(hostname)" != "$lab-2"
check "the agent runs a line of shell on a node, as ssh would" same "$(howmany lab agent --name "$lab" -- "$lab-3" 'hostname;' echo 'a b' "| tr a-z A-Z")" "$lab-3
A B"
check "the agent can be called from a node" same "$(in_lab -- sh -c '$0 lab agent --name '"$lab"' -- 10.87.0.2 hostname' "$HM_PROGRAM")" "$lab-2"
expect "more nodes than the lab has are refused" 2 "lab '$lab' has 3 nodes, not 4" in_lab -n 4 -- true
expect "an unknown node is refused" 2 "'4' is not a node of lab '$lab', which are 1 to 3, or $lab-1 to $lab-3" in_lab --on 4 -- true
expect "an unknown placeholder is refused" 2 "{nodes}" in_lab -- echo {nodes}
expect "a missing command is reported" 2 "cannot start 'no-such-command': No such file or directory" in_lab -- no-such-command
run in_lab -- sh -c 'exit 7'
check "the exit code is that of the command" test "$code" -eq 7
check "the command reads standard input" same "$(echo hello | in_lab -- cat)" hello
expect "lab down on a node is refused" 2 "this is a node of lab '$lab'; leave it first" in_lab -- "$HM_PROGRAM" lab down --name "$lab"

ctrl_c() {
  env --default-signal=INT howmany lab run --name "$lab" -- bash -c 'trap "exit 7" INT; echo >"$0"; while :; do sleep 0.02; done' "$work/ready" &
  local pid=$!
  wait_for 30 test -e "$work/ready"
  kill -INT $pid
  wait $pid
  [ $? -eq 7 ] && howmany lab status --name "$lab"
}
check "Ctrl-C ends the command but not the lab" ctrl_c

if [ "$mpi" ]; then
  check "mpirun starts a rank on each node" same "$(in_lab -- mpirun -n {n} hostname | sort | tr '\n' ' ')" "$lab-1 $lab-2 $lab-3 "
  check "calibrate measures the fabric" bash -c "howmany lab run --name $lab -- howmany calibrate --fabric --quick -n 2 2>/dev/null | grep -q '^fabric: {bandwidth: '"
  run in_lab -n 2 -- howmany train -n {n} -d digits:500 -i 3
  check "2 ranks train across the network" test "$code" -eq 0
  learnt() { jq -c 'select(.iteration) | [.iteration, .objective]'; }
  check "training across the network gives the results of training without it" same "$(learnt <"$work/out")" "$(howmany train -n 2 -d digits:500 -i 3 | learnt)"
  check "an all-reduce across the network takes at least the latency" sh -c "jq -s -e 'map(select(.iteration)) | map(.communicate_s) | add / length > 0.015' $work/out"
else
  skip "MPI across the network" "this build has no MPI"
fi
check "lab down succeeds" howmany lab down --name "$lab"
check "lab down removes everything" is_gone "$lab"

# ---- latencies, bandwidth, loss --------------------------------------------------------------
for ms in 0 5 60 100; do
  howmany lab up -n 2 --latency ${ms}ms --name "$lab" >/dev/null 2>&1
  check "a ping takes $((2 * ms)) ms with $ms ms" within "$(trip "$lab" 2)" $((2 * ms)) $((2 * ms + 3))
  howmany lab down --name "$lab"
done
if unshare --net tc qdisc add dev lo root netem delay 1ms 2>/dev/null; then
  howmany lab up -n 2 --latency 20ms --bandwidth 1Gbit/s --way netem --name "$lab" >/dev/null
  check "a ping takes 40 ms with netem" within "$(trip "$lab" 2)" 37 43
  howmany lab down --name "$lab"
else
  expect "a kernel without netem is reported" 2 "netem" howmany lab up -n 2 --latency 20ms --way netem --name "$lab"
  check "after a failure nothing is left" is_gone "$lab"
fi

howmany lab up -n 2 --loss 50% --way vde --name "$lab" >/dev/null
# A lost ARP request is repeated only after a second, so resolve the address first.
in_lab -- sh -c "for k in \$(seq 40); do ping -n -c 1 -W 1 $lab-2 >/dev/null 2>&1 && break; done"
lost=$(in_lab -- ping -n -c 100 -i 0.005 -W 1 "$lab-2" | sed -n 's/.* \([0-9.]*\)% packet loss.*/\1/p')
check "with 50 % loss in each direction, three of four pings are lost" within "$lost" 55 93
howmany lab down --name "$lab"

if [ "$mpi" ]; then
  rate() { # bytes per second that one node sends in a ring all-reduce of 1.6 MB on two nodes
    howmany lab run --name "$lab" -- howmany train -n 2 -p squares -a sgd -d dense:64x200000 -b 64 --scheme ring -i 4 |
      jq -s 'map(select(.summary))[0] | .bytes / 2 / .communicate_s'
  }
  howmany lab up -n 2 --bandwidth 100Mbit/s --name "$lab" >/dev/null
  check "100 Mbit/s is not exceeded by more than 15 %" within "$(rate)" 1 $((12500000 * 115 / 100))
  howmany lab down --name "$lab"
  howmany lab up -n 2 --latency 1ms --bandwidth 100Mbit/s --way vde --name "$lab" >/dev/null
  check "100 Mbit/s is not exceeded with a latency" within "$(rate)" 1 $((12500000 * 115 / 100))
  howmany lab down --name "$lab"
else
  skip "bandwidth" "this build has no MPI"
fi

# ---- several labs ----------------------------------------------------------------------------
howmany lab up -n 2 --latency 1ms --way vde --name "${lab}a" >/dev/null
howmany lab up -n 2 --name "${lab}b" >/dev/null
expect "status of a missing lab lists the existing labs" 1 "existing labs: " howmany lab status --name "${lab}c"
check "two labs have different nodes" same "$(howmany lab run --name "${lab}a" -- hostname) $(howmany lab run --name "${lab}b" -- hostname)" "${lab}a-1 ${lab}b-1"
howmany lab run --name "${lab}a" -- sh -c "touch $work/asleep && exec sleep 1000" &
sleeper=$!
wait_for 30 test -e "$work/asleep"
check "lab down of one of two labs succeeds" howmany lab down --name "${lab}a"
wait $sleeper
check "lab down ends the processes on its nodes" test $? -gt 128
check "nothing of the first lab is left" is_gone "${lab}a"
check "the second lab still exists" howmany lab status --name "${lab}b"
howmany lab down --name "${lab}b"

# ---- existing namespaces ---------------------------------------------------------------------
ip netns add "${lab}c-2"
expect "an existing namespace of the same name is reported" 2 "network namespace ${lab}c-2 exists already and does not belong to a lab" howmany lab up -n 2 --name "${lab}c"
expect "lab down keeps a foreign namespace" 2 "network namespace ${lab}c-2 does not belong to a lab and is kept" howmany lab down --name "${lab}c"
check "the failed lab up left nothing else" same "$(left "${lab}c")" "/run/netns/${lab}c-2"
ip netns delete "${lab}c-2"

# ---- killed processes ------------------------------------------------------------------------
howmany lab up -n 2 --latency 1ms --way vde --name "${lab}d" >/dev/null
kill -9 $(ip netns pids "${lab}d-net" | head -n 2)
expect "status reports killed switches" 1 " of the 5 processes of its network have ended" howmany lab status --name "${lab}d"
expect "lab run on a damaged network is refused" 1 "is incomplete" howmany lab run --name "${lab}d" -- true
kill -9 $(ip netns pids "${lab}d-net")
check "lab down succeeds after switches and wires were killed" howmany lab down --name "${lab}d"
check "nothing of the damaged lab is left" is_gone "${lab}d"

howmany lab up -n 2 --latency 1ms --way vde --name "${lab}d" >/dev/null
ip netns delete "${lab}d-net"
expect "status reports a deleted namespace" 1 "network namespace ${lab}d-net is gone" howmany lab status --name "${lab}d"
check "lab down succeeds without the namespace" howmany lab down --name "${lab}d"
check "lab down finds processes by their arguments" is_gone "${lab}d"

howmany lab up -n 2 --latency 1ms --way vde --name "${lab}d" >/dev/null
rm -rf "/run/howmany/${lab}d"
expect "lab up reports the remains of an earlier lab" 2 "parts of an earlier lab '${lab}d' exist" howmany lab up -n 2 --name "${lab}d"
check "lab down succeeds without the folder of the lab" howmany lab down --name "${lab}d"
check "lab down finds namespaces by their interfaces" is_gone "${lab}d"

killed_half_way() { # signal; the output of a concurrent lab down goes to down.log
  howmany lab up -n 48 --latency 1ms --way vde --name "${lab}e" >"$work/up.log" 2>&1 &
  local pid=$!
  wait_for 30 test -e "/run/howmany/${lab}e/wire1"
  howmany lab down --name "${lab}e" >"$work/down.log" 2>&1
  kill -"$1" $pid
  wait $pid 2>/dev/null
  code=$?
}
killed_half_way KILL
check "after lab up was killed, its guard removes everything" is_gone "${lab}e"
# A switch whose program has not been executed yet is in no namespace of the lab. Another 'ip' delays it, so that lab up is killed just then.
mkdir "$work/slow"
mkfifo "$work/slow/never"
cat >"$work/slow/ip" <<END
#!/bin/bash
case "\$*" in *vde_switch*) touch "$work/slow/begun"; read -rt 60 <>"$work/slow/never" ;; esac
exec $(command -v ip) "\$@"
END
chmod +x "$work/slow/ip"
PATH=$work/slow:$PATH howmany lab up -n 2 --latency 1ms --way vde --name "${lab}e" >/dev/null 2>&1 &
killed=$!
wait_for 30 test -e "$work/slow/begun"
kill -9 $killed
wait $killed 2>/dev/null
no_switch_is_left() { ! pgrep -f "vde_switch.*/run/howmany/${lab}e/" >/dev/null && is_gone "${lab}e"; }
check "no switch is left that was about to start when lab up was killed" wait_for 10 no_switch_is_left
# A lab that lacks the file that lab up writes at the end, as if lab up and its guard had been killed.
howmany lab up -n 2 --latency 1ms --way vde --name "${lab}h" >/dev/null
rm "/run/howmany/${lab}h/lab.json"
expect "lab run in an unfinished lab is refused" 1 "is incomplete: 'lab up' did not finish" howmany lab run --name "${lab}h" -- true
expect "lab up beside an unfinished lab is refused" 2 "parts of an earlier lab '${lab}h' exist" howmany lab up -n 2 --name "${lab}h"
check "lab down removes an unfinished lab" howmany lab down --name "${lab}h"
check "nothing of the unfinished lab is left" is_gone "${lab}h"
killed_half_way TERM
check "lab down during lab up is refused" grep -q "another 'howmany lab' is changing lab '${lab}e'" "$work/down.log"
check "lab up exits with 130 after a signal" test "$code" -eq 130
check "lab up removes everything after a signal" is_gone "${lab}e"

# ---- failures of lab up ----------------------------------------------------------------------
mkdir "$work/bin"
printf '#!/bin/sh\necho out of wire >&2\nexit 3\n' >"$work/bin/wirefilter"
chmod 755 "$work/bin/wirefilter"
PATH=$work/bin:$PATH expect "a wire that does not start is reported" 2 "failed: out of wire" howmany lab up -n 3 --latency 1ms --way vde --name "${lab}f"
check "nothing is left after a wire did not start" is_gone "${lab}f"
mkdir "$work/few" # All programs except those of vde2.
for program in ip tc unshare; do ln -s "$(command -v $program)" "$work/few/$program"; done
few() { env PATH="$work/few" "$HM_PROGRAM" "$@"; }
if [ ! -e /usr/sbin/vde_switch ] && [ ! -e /sbin/vde_switch ]; then
  expect "missing vde2 is reported" 2 "vde_switch is not installed" few lab up -n 2 --latency 1ms --way vde --name "${lab}f"
  expect "the message names the package vde2" 2 "apt-get install vde2" few lab up -n 2 --latency 1ms --way vde --name "${lab}f"
fi
check "nothing is created without vde2" is_gone "${lab}f"

check "the interfaces of the machine are unchanged" same "$(links)" "$before"
finish
