"""The table of docs/reference/frameworks.md: for each record of `howmany bench`, fit the runs without the largest n, predict
the largest n with its interval, put the measured value beside it, and plan from the same runs. Usage: report.py FOLDER [MEASURED.csv]

MEASURED.csv is written for `howmany compare --measured`: the runs that have a task of the survey."""
import csv
import datetime
import glob
import importlib.metadata
import os
import platform
import statistics
import sys

import howmany
from data import SPARK_ROWS, batch_of

PACKAGES = ("torch", "transformers", "accelerate", "lightning", "keras", "tf_keras", "tensorflow", "deepspeed", "pyspark", "ray")
#: Runs with a task of `howmany compare`: the platform, the framework with its package.
COMPARED = {"torch-ddp": ("allreduce", "PyTorch DDP", "torch"), "lightning": ("allreduce", "Lightning", "lightning"),
            "keras": ("allreduce", "Keras MultiWorkerMirrored", "tensorflow"),
            "tensorflow-servers": ("async", "TensorFlow servers", "tensorflow"), "spark": ("driver", "Spark MLlib", "pyspark")}


def measured(path):
    """{n: [seconds of each run]} of the runs that succeeded."""
    runs = {}
    with open(path, encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            if row["status"] == "ok":
                runs.setdefault(int(row["n"]), []).append(float(row["seconds"]))
    return runs


def rows_of(runs):
    return [{"n": n, "seconds": seconds} for n, all_seconds in runs.items() for seconds in all_seconds]


def seconds_text(value):
    return "" if value is None else f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


def report(path):
    """A line of the table: measured medians, the prediction of the largest n from the others, and a plan from the others."""
    runs = measured(path)
    name = os.path.basename(path)[:-4]
    shown = ", ".join(f"{n}: {seconds_text(statistics.median(runs[n]))}" for n in sorted(runs))
    if len(runs) < 3:
        return f"| {name} | {shown} | | | | | |"
    largest = max(runs)
    smaller = rows_of({n: s for n, s in runs.items() if n != largest})
    point = howmany.fit(smaller, target=largest).predictions[0]
    best = howmany.plan(runs=smaller, max_n=2 * largest).best.n
    actual = statistics.median(runs[largest])
    low, high = point.low_s, point.high_s
    known = low is not None
    interval = f"{seconds_text(low)} to {seconds_text(high)}" if known else "too few runs"
    inside = sum(low <= seconds <= high for seconds in runs[largest]) if known else 0
    return (f"| {name} | {shown} | {seconds_text(point.time_s)} | {interval} | {100 * (point.time_s / actual - 1):+.0f} % | "
            f"{inside} of {len(runs[largest])} | {best:g} |")


def version(name):
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{name} is not installed"


def write_measured(folder, path):
    """The table for `howmany compare --measured`: the runs on three workers, as in the survey, FOLDER/survey/TASK-NAME.csv."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["task", "platform", "system", "n", "seconds", "batch"])
        for task in SPARK_ROWS:
            for name, (platform_name, title, package) in COMPARED.items():
                record = os.path.join(folder, "survey", f"{task}-{name}.csv")
                runs = measured(record) if os.path.exists(record) else {}
                system = f"{title} {version(package).split()[-1]}"
                batch = SPARK_ROWS[task] if name == "spark" else batch_of(task)
                table.writerows([task, platform_name, system, 3, seconds, batch] for seconds in runs.get(3, []))


def main():
    print(f"{datetime.date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, howmany "
          f"{howmany.__version__}; {', '.join(map(version, PACKAGES))}.\n")
    print("| run | seconds of an iteration, by n | predicted for the largest n | 90 % interval | off by | runs in the interval | "
          "plan: best n |\n|---|---|---|---|---|---|---|")
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.csv"))):
        print(report(path))
    if len(sys.argv) > 2:
        write_measured(sys.argv[1], sys.argv[2])


main()
