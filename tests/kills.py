#!/usr/bin/env python3
"""Kills commands that start processes, at random moments, and looks for what they leave behind.

    tests/kills.py HOWMANY [TRIALS [SEED [KINDS]]]

Each trial starts one command in a folder of its own, waits for a random time, sends SIGKILL to the command or to one
of the processes it started, and in a third of the trials to another one at least 0.3 s later. At the end the command
itself is killed if it still runs. Ten seconds later at most there must be no process of the trial, no temporary file,
no shared memory, no network namespace and no interface. Processes are found by an environment variable that they
inherit. (A command and its guard that are killed in the same instant leave their processes; hence the 0.3 s. For the same
reason nothing is killed after the command.) KINDS is a list such as train,lab; without it all kinds are tried in turn. A trial depends only on its seed
and on the speed of the machine.
"""
import os, random, shutil, signal, subprocess, sys, tempfile, time

HOWMANY = os.path.abspath(sys.argv[1])
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TRIALS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
MARK = "HM_KILLS_TRIAL"

TOY = r"""#!/bin/bash
n=$1 state=$2 i=0
[ "${3:-}" != --resume ] || read -r i <"$state"
for ((k = 0; k < 400; k++)); do
  sleep 0.01 & wait
  i=$((i + 1))
  echo "$i" >"$state.next" && mv "$state.next" "$state"
  printf '{"iteration":%d,"loss":%s}\n' "$i" "$((100000 / i))"
done
"""
STUDY = """train: {data: digits:300, lambda: 1e-3}
algorithms: [cocoa, lbfgs]
m: [1, 2]
loss: 1e-7
budget: 20 s
"""
STUBBORN = "trap '' TERM; (trap '' TERM; sleep 300) & (set -m; sleep 300 & wait) & wait"
TRAIN = ["train", "-d", "sparse:400x50:0.2", "-n", "2", "--iterations", "100000000", "--json"]
LAB = "k%d" % (os.getpid() % 10000)

# Each kind: the arguments of howmany, and the longest time until the first kill in seconds.
KINDS = {
    "train": (TRAIN, 2.0),
    "restarts": (TRAIN + ["--checkpoint", "ck", "--every", "50", "--restarts", "3"], 2.0),
    "simulated": (["train", "-d", "digits:300", "-n", "4", "--iterations", "1000000", "--json", "--simulate",
                   SOURCE + "/examples/cluster-study.yaml"], 1.5),
    "bench": (["bench", "sh -c 'sleep 0.05 & sleep 0.{n} & wait'", "--n", "1,2,4,8", "--repeat", "50", "--record",
               "runs.csv"], 2.0),
    "stubborn": (["bench", "sh -c \"" + STUBBORN.replace('"', '\\"') + " # {n}\"", "--n", "1,2"], 1.0),
    "steer": (["steer", "--command", "./toy.sh {n} {checkpoint} {resume}", "--m", "1,2,4", "--reach", "0.001"], 2.0),
    "study": (["study", "study.yaml"], 3.0),
    "lab": (["lab", "up", "-n", "12", "--latency", "1ms", "--way", "vde", "--name", LAB], 1.5),
    "labrun": (["lab", "run", "--name", LAB, "--", "sh", "-c", "sleep 300 & wait"], 1.0),
}


def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return f.read()
    except OSError:
        return b""


def is_dead(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def processes(trial):
    """The running processes of a trial."""
    mark = f"{MARK}={trial}\0".encode()
    return sorted(int(p) for p in os.listdir("/proc") if p.isdigit() and mark in environment(p) and not is_dead(p))


def describe(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            line = f.read().replace(b"\0", b" ").decode(errors="replace")[:100]
        with open(f"/proc/{pid}/comm") as f:
            return f"{pid} {f.read().strip()}: {line}"
    except OSError:
        return str(pid)


def listed(folder, begin):
    return {f"{folder}/{name}" for name in os.listdir(folder) if name.startswith(begin)} if os.path.isdir(folder) else set()


def machine_state():
    """What a command could leave outside its folder: labs of this test, shared memory, interfaces."""
    # Other programs may use /dev/shm at the same time, so only names of howmany and Open MPI count.
    return listed("/run/netns", LAB) | listed("/run/howmany", LAB) | listed("/sys/class/net", "") | \
        listed("/dev/shm", "howmany-") | listed("/dev/shm", "vader_segment")


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return 1
    except ProcessLookupError:
        return 0


def remains(trial, tmp, folder, before):
    """Waits at most ten seconds, and returns what is left."""
    end = time.monotonic() + 10
    while True:
        left = [describe(p) for p in processes(trial)] + [f"{tmp}/{f}" for f in os.listdir(tmp)]
        left += sorted(machine_state() - before)
        left += [f for f in os.listdir(folder) if f.endswith(".new") and not os.path.exists(folder + "/ck")]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


def lab_down():
    subprocess.run([HOWMANY, "lab", "down", "--name", LAB], capture_output=True, timeout=60)


def run_trial(kind, seed):
    """Returns the number of kills and a list of what was left."""
    arguments, longest = KINDS[kind]
    draw = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="kills-")
    tmp = folder + "/tmp"
    os.mkdir(tmp)
    with open(folder + "/toy.sh", "w") as f:
        f.write(TOY)
    os.chmod(folder + "/toy.sh", 0o755)
    with open(folder + "/study.yaml", "w") as f:
        f.write(STUDY)
    trial = f"{os.getpid()}-{seed}"
    if kind == "labrun":
        subprocess.run([HOWMANY, "lab", "up", "-n", "2", "--name", LAB], check=True, capture_output=True, timeout=60)
    before = machine_state()
    env = dict(os.environ, TMPDIR=tmp, XDG_STATE_HOME=folder, **{MARK: trial})
    command = subprocess.Popen([HOWMANY] + arguments, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=open(folder + "/err", "w"))
    kills, trace = 0, []
    for wait in [longest * draw.random()] + ([0.3 + draw.random()] if draw.random() < 1 / 3 else []):
        time.sleep(wait)
        running = processes(trial)
        if command.poll() is not None:
            break # Nothing would clean up after a guard that is killed while it does so.
        others = [p for p in running if p != command.pid]
        victim = command.pid if not others or draw.random() < 0.5 else draw.choice(others)
        if victim in running:
            trace.append(describe(victim))
            kills += kill(victim)
    if command.poll() is None and kind != "lab":
        time.sleep(0.3 + draw.random())
    if command.poll() is None and kind != "lab":
        kills += kill(command.pid)
    code = command.wait()
    # A lab that was made completely, and a command in a lab, may leave processes and files, which lab down removes.
    if kind == "labrun" or kind == "lab" and code != -signal.SIGKILL:
        lab_down()
        if kind == "labrun":
            before = {x for x in before if LAB not in x}
    elif kind == "lab" and os.path.exists(f"/run/howmany/{LAB}/lab.json"):
        lab_down()
    left = remains(trial, tmp, folder, before)
    left += [f"(killed {t}; exit code {code})" for t in trace] if left else []
    for pid in processes(trial):
        kill(pid)
    if left and "lab" in kind:
        lab_down()
    shutil.rmtree(folder, ignore_errors=True)
    return kills, left


def main():
    kinds = sys.argv[4].split(",") if len(sys.argv) > 4 else list(KINDS)
    if os.geteuid() != 0 or not shutil.which("ip"):
        kinds = [k for k in kinds if not k.startswith("lab")]
    if not shutil.which("vde_switch", path=os.environ["PATH"] + ":/usr/sbin"):
        kinds = [k for k in kinds if k != "lab"]
    kills = failed = 0
    for i in range(TRIALS):
        kind, seed = kinds[i % len(kinds)], SEED * 1000000 + i
        done, left = run_trial(kind, seed)
        kills += done
        failed += bool(left)
        for what in left:
            print(f"seed {seed} ({kind}): left {what}", flush=True)
    print(f"{TRIALS} commands ({', '.join(kinds)}), {kills} kills: {TRIALS - failed} left nothing, {failed} left something")
    return 1 if failed else 0


sys.exit(main())
