"""Speed and threads. Times are processor times, so that other programs do not affect them."""
import concurrent.futures
import statistics
import threading
import time
import unittest
import zlib

import howmany
from support import Case, example

try:
    import pandas
except ImportError:
    pandas = None


# zlib compresses the answer of the plan below in 0.072 ms with every Python from 3.9 to 3.13, so that this many compressions
# last 1.0 ms. (The json module, which was the measure before, is faster in Python 3.9 than in 3.13 by a third.)
COMPRESSIONS = 14


def seconds(work, count):
    """Processor time of one of `count` repetitions."""
    begin = time.process_time()
    for _ in range(count):
        work()
    return (time.process_time() - begin) / count


class Speed(Case):
    """Speed is compared with zlib in the same run, because other programs slow both."""

    def test_a_plan_takes_under_a_millisecond(self):
        def plan():
            self.assertEqual(howmany.plan(example("fig2-spark-ann.yaml")).best.n, 9)

        answer = howmany.plan(example("fig2-spark-ann.yaml")).json.encode()
        rounds = [(seconds(plan, 25), seconds(lambda: zlib.compress(answer), 25)) for _ in range(20)]
        print(f"a plan takes {1e3 * min(plan for plan, _ in rounds):.3f} ms")
        self.assertLess(statistics.median(plan / peer for plan, peer in rounds), COMPRESSIONS)

    def test_ten_thousand_plans_take_under_ten_seconds(self):
        count = 10000
        batches = [60000 + i for i in range(count)]
        table = pandas.DataFrame({"batch": batches}) if pandas else {"batch": batches}
        answer = howmany.plan(example("fig2-spark-ann.yaml")).json.encode()
        peer = seconds(lambda: zlib.compress(answer), 500)
        begin = time.process_time()
        answers = howmany.plans(table, example("fig2-spark-ann.yaml"))
        best = [row["n"] for row in answers.to_dicts()]
        spent = time.process_time() - begin
        peer = (peer + seconds(lambda: zlib.compress(answer), 500)) / 2
        print(f"{count} plans take {spent:.1f} s")
        self.assertEqual((len(best), best[0]), (count, 9))
        self.assertLess(spent / peer, count * COMPRESSIONS)

    def test_threads_get_the_same_answers(self):
        names = ["fig1.yaml", "fig2-spark-ann.yaml", "gpt2.yaml", "alexnet.yaml"] * 25
        alone = {name: howmany.plan(example(name)).json for name in set(names)}
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for name, answer in zip(names, pool.map(lambda name: howmany.plan(example(name)).json, names)):
                self.assertEqual(answer, alone[name])

    def test_other_threads_go_on_during_a_request(self):
        """A call that kept the interpreter's lock would stop the counter below."""
        done = threading.Event()

        def work():
            howmany.advise(example("mnist-traces.csv.gz"), loss=1e-4)
            done.set()

        thread = threading.Thread(target=work)
        count = 0
        thread.start()
        while not done.is_set() and count < 10 ** 7:
            count += 1
        thread.join()
        self.assertGreater(count, 1000)


if __name__ == "__main__":
    unittest.main()
