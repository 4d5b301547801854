"""Arguments of all kinds, errors, and answers as objects, text, tables and HTML."""
import contextlib
import datetime
import io
import os
import pathlib
import resource
import shutil
import signal
import time
import unittest
from unittest import mock

import howmany
from howmany import _library, _verbs
from support import Case, command, example, read

try:
    import pandas
except ImportError:
    pandas = None

JOB = {"compute": "10 s/n", "communicate": "1 s*ln(n)"}
RUNS = {"n": [1, 2, 4, 8, 1, 4], "seconds": [10.1, 5.4, 3.05, 2.02, 9.9, 3.1]}


class Arguments(Case):
    def test_tables_of_all_kinds_are_one_table(self):
        rows = [dict(zip(RUNS, row)) for row in zip(*RUNS.values())]
        text = "n,seconds\n" + "".join(f"{row['n']},{row['seconds']}\n" for row in rows)
        path = pathlib.Path(self.folder, "runs.csv")
        path.write_text(text)
        kinds = [RUNS, rows, text, text.encode(), path, str(path)]
        if pandas:
            kinds.append(pandas.DataFrame(RUNS))
        answers = [howmany.fit(kind, target=16) for kind in kinds]
        for answer in answers:
            self.assertEqual(answer.predictions, answers[0].predictions)
            self.assertEqual(answer.run_count, 6)

    def test_a_file_of_a_job_and_its_contents(self):
        by_name, by_path = howmany.plan(example("fig1.yaml")), howmany.plan(pathlib.Path(example("fig1.yaml")))
        self.assertEqual(by_name.json, by_path.json)
        self.assertEqual(by_name.json, howmany.plan(read("examples/fig1.yaml")).json)

    def test_a_job_by_name_and_a_table_and_a_cluster_as_dicts(self):
        cluster = {"flops": "100 Gflop/s", "fabric": {"bandwidth": "1 Gbit/s"}}
        answer = howmany.plan(example("fig2-spark-ann.yaml"), runs=RUNS, on=[cluster])
        self.assertEqual(answer.provenance, "model and runs")

    def test_flags_numbers_and_lists(self):
        self.assertEqual(howmany.plan(JOB, weak=True).scaling, "weak")
        self.assertEqual(len(howmany.plan(JOB, max_n=5).curve), 5)
        self.assertEqual([p.n for p in howmany.fit(RUNS, predict=[32, 64]).predictions], [32, 64])
        self.assertEqual(howmany.plan(JOB, set=["communicate=2 s*ln(n)"]).best.n, 5)
        self.assertEqual(howmany.plan(JOB, set={"communicate": "2 s*ln(n)"}).best.n, 5)

    def test_values_that_cannot_be_passed_on(self):
        with self.assertRaises(TypeError):
            howmany.plan(JOB, max_n=object())
        with self.assertRaisesRegex(TypeError, "differ in length: n 2, seconds 1"):
            howmany.fit({"n": [1, 2], "seconds": [3]})

    def test_times_of_python(self):
        self.assertEqual(howmany.plan({**JOB, "iterations": 1000}, deadline=datetime.timedelta(hours=2)).json,
                         howmany.plan({**JOB, "iterations": 1000}, deadline="2h").json)
        self.assertEqual(howmany.plan({**JOB, "compute": datetime.timedelta(seconds=90)}).curve[0].compute_s, 90)

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_frames_of_other_shapes(self):
        frame = pandas.DataFrame(RUNS)
        means = howmany.fit({"n": [1, 2, 4, 8], "seconds": [10.0, 5.4, 3.075, 2.02]}).predictions
        for table in (frame.groupby("n").mean(), frame.groupby("n")["seconds"].mean()):
            self.assertEqual(howmany.fit(table).run_count, 4)
            for found, wanted in zip(howmany.fit(table).predictions, means):
                self.assertAlmostEqual(found.time_s, wanted.time_s)
        times = frame.assign(seconds=pandas.to_timedelta(frame["seconds"], unit="s"))
        self.assertEqual(howmany.fit(times).predictions, howmany.fit(frame).predictions)
        with self.assertRaisesRegex(TypeError, "several levels"):
            howmany.fit(frame.groupby("n").agg(["mean", "std"]))

    def test_import_of_a_price_list_writes_a_catalog(self):
        prices = os.path.join(self.folder, "vms.csv")
        with open(prices, "w", encoding="utf-8") as stream:
            stream.write("InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region\n"
                         "p3.2xlarge,V100,1,8,61,3.06,1.0,us-east-1\n")
        output = os.path.join(self.folder, "own.yaml")
        howmany.catalog_import(prices, output=output)
        with open(output, encoding="utf-8") as stream:
            self.assertIn("p3.2xlarge", stream.read())
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            howmany.catalog_import(prices, output="-")
        self.assertIn("p3.2xlarge", shown.getvalue())
        self.assertFalse(os.path.exists("-"))

    def test_an_output_that_cannot_be_completed_leaves_the_old_file(self):
        output = os.path.join(self.folder, "fit.json")
        with open(output, "w", encoding="utf-8") as stream:
            stream.write("old")
        os.chmod(output, 0o640)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # as if the disk were full
        try:
            with self.assertRaises(OSError):
                howmany.converge("examples/mnist-traces.csv.gz", save=output)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        with open(output, encoding="utf-8") as stream:
            self.assertEqual(stream.read(), "old")
        self.assertEqual(os.listdir(self.folder), ["fit.json"])
        howmany.converge("examples/mnist-traces.csv.gz", save=output)
        self.assertGreater(os.path.getsize(output), 1000)
        self.assertEqual((os.listdir(self.folder), os.stat(output).st_mode & 0o777), (["fit.json"], 0o640))


class Errors(Case):
    def test_an_error_has_field_and_hint(self):
        with self.assertRaises(howmany.Error) as caught:
            howmany.plan(JOB, goal="tme")
        error = caught.exception
        self.assertEqual((error.code, error.field, error.source), ("name", "goal", "request"))
        self.assertEqual(error.hint, "did you mean time?")
        self.assertEqual(str(error), "goal: 'tme' is not time, cost or balance\n  did you mean time?")

    def test_an_error_in_a_document_has_file_and_line(self):
        path = os.path.join(self.folder, "job.yaml")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("compute: 10/n\nbatsh: 3\n")
        with self.assertRaises(howmany.Error) as caught:
            howmany.plan(path)
        self.assertEqual((caught.exception.source, caught.exception.line, caught.exception.code), (path, 2, "key"))

    def test_an_error_in_values_has_no_file_and_names_the_row(self):
        with self.assertRaises(howmany.Error) as caught:
            howmany.plan({**JOB, "cluster": {"price": "2 GB"}})
        self.assertEqual((caught.exception.source, caught.exception.line, caught.exception.field), ("", 0, "cluster.price"))
        for table in ({"n": [1, 2, 4], "seconds": [3, 2, -1]}, [{"n": 1, "seconds": 3}, {"n": 2, "seconds": 2}, {"n": 4, "seconds": -1}]):
            with self.assertRaises(howmany.Error) as caught:
                howmany.fit(table)
            self.assertEqual((caught.exception.field, caught.exception.line), ("seconds", 3))

    def test_an_argument_that_does_not_exist(self):
        for ask, message in ((lambda: howmany.plan(JOB, maxn=3), r"plan\(\) has no argument 'maxn'; did you mean max_n\?"),
                             (lambda: howmany.plan(JOB, communicat="1 s"), "set={'communicat': …}"),
                             (lambda: howmany.Store(self.store).page(wher="n=1"), r"did you mean where\?")):
            with self.assertRaisesRegex(TypeError, message):
                ask()

    def test_contents_in_one_line(self):
        with self.assertRaises(howmany.Error) as caught:
            howmany.plan("compute: 10 s / n")
        self.assertIn("line break", caught.exception.hint)

    def test_a_text_that_c_would_cut_is_refused(self):
        for call in (lambda: howmany.plan(example("fig1.yaml\0.old")), lambda: howmany.plan(JOB, goal="time\0x"),
                     lambda: howmany.Store(self.store + "\0.old").add(n=1, seconds=2)):
            with self.assertRaisesRegex(howmany.Error, "NUL"):
                call()
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_empty_name_is_not_the_default_store(self):
        with self.assertRaisesRegex(howmany.Error, "no store is given"):
            howmany.Store("").add(n=1, seconds=2)
        with self.assertWarnsRegex(RuntimeWarning, "no store is given"), howmany.record(n=1, to="") as run:
            run.step()
        self.assertEqual(os.listdir(self.folder), [])

    def test_text_that_is_not_unicode(self):
        for call in (lambda: howmany.plan({**JOB, "name": "\udcff"}), lambda: howmany.plan("compute: \udcff\n")):
            with self.assertRaisesRegex(howmany.Error, "not valid Unicode"):
                call()

    def test_ctrl_c_while_a_store_is_used_is_not_lost(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        store = howmany.Store(self.store)
        store.load("n,batch,seconds\n" + "".join(f"{1 + i % 64},{1 + i},{1 + i / 1000}\n" for i in range(3000)))
        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        interrupted = 0
        for milliseconds in range(1, 16):
            try:
                signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000)
                store.export() if milliseconds % 2 else howmany.fit(store, where=["n<=16"], target="n=3,batch=5")
                time.sleep(10)
            except KeyboardInterrupt:
                interrupted += 1
            except howmany.Error as error:  # at the start of the callback that opens the store
                self.assertEqual(error.code, "cancelled")
                interrupted += 1
            files = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
            self.assertEqual([file for file in files if "runs.db" in file], [])
        self.assertEqual(interrupted, 15)

    def test_bytes_that_are_not_text(self):
        with self.assertRaises(howmany.Error):
            howmany.fit(b"n,seconds\n1,\xff\n")

    def test_an_error_in_the_name_of_the_default_store(self):
        with mock.patch.dict(os.environ, {"HOWMANY_DB": os.fsdecode(b"/tmp/\xff.db")}):
            with self.assertRaisesRegex(howmany.Error, "not valid Unicode"):
                _verbs.runs_list()

    def test_a_damaged_catalog_of_the_person_is_freed(self):
        folder = os.path.join(self.folder, "howmany", "catalog")
        os.makedirs(folder)
        with open(os.path.join(folder, "own.yaml"), "w", encoding="utf-8") as stream:
            stream.write("no: [catalog")
        freed = mock.Mock(wraps=_library.lib.hm_catalog_free)
        with mock.patch.dict(os.environ, {"XDG_DATA_HOME": self.folder}), mock.patch.object(_library, "_catalog", None), \
                mock.patch.object(_library.lib, "hm_catalog_free", freed):
            with self.assertRaisesRegex(howmany.Error, "own.yaml"):
                howmany.plan(JOB)
        self.assertEqual(freed.call_count, 1)

    def test_a_missing_file(self):
        with self.assertRaises(howmany.Error) as caught:
            howmany.plan("no-such-job.yaml")
        self.assertEqual(caught.exception.code, "io")

    def test_no_feasible_answer_is_an_answer(self):
        answer = howmany.plan({**JOB, "iterations": 1000}, deadline="1s")
        self.assertFalse(answer.answered)
        self.assertEqual(answer.status, "unreached")


class Answers(Case):
    def test_print_shows_the_text_of_the_command_line(self):
        for name in ("fig2-spark-ann.yaml", "resnet50.yaml"):
            self.assertEqual(str(howmany.plan(example(name))), command("plan", example(name)))
        self.assertEqual(str(howmany.fit(example("runs.csv"), target=64)), command("fit", example("runs.csv"), "--target", "64"))
        self.assertEqual(howmany.plan(example("fig1.yaml")).to_csv(), command("plan", example("fig1.yaml"), "--csv"))

    def test_members(self):
        answer = howmany.plan(example("fig1.yaml"))
        self.assertEqual((answer.best.n, answer.knee.n, answer["best"]["n"]), (14, 4, 14))
        self.assertEqual((type(answer).__name__, type(answer.best).__name__, type(answer.plateau).__name__), ("Plan", "Point", "RangeOfN"))
        self.assertEqual(answer.plateau.from_, answer.to_dict()["plateau"]["from"])
        self.assertIsNone(answer.platform)
        self.assertIn("curve", dir(answer))
        with self.assertRaisesRegex(AttributeError, r"no member 'bst'; did you mean best\?"):
            answer.bst
        with self.assertRaisesRegex(AttributeError, "no member 'xyzzy'; it has howmany, status"):
            answer.xyzzy
        with self.assertRaisesRegex(KeyError, "no list 'rank'; it has .*ranking"):
            answer.to_rows("rank")
        self.assertTrue(repr(answer).startswith("<howmany.Plan: Use 9 workers"))

    @unittest.skipUnless(pandas, "pandas is not installed")
    def test_frames(self):
        frame = howmany.plan(example("fig1.yaml"), max_n=30).to_frame()
        self.assertEqual((len(frame), list(frame.columns[:3])), (30, ["n", "nodes", "time_s"]))
        self.assertEqual(list(howmany.fit(RUNS).to_frame("residuals")["n"]), RUNS["n"])
        self.assertGreater(len(howmany.catalog().to_frame()), 100)

    def test_html(self):
        shown = howmany.plan(example("fig1.yaml"))._repr_html_()
        self.assertIn("<strong>Use 9 workers", shown)
        self.assertIn("<td>14</td>", shown)
        self.assertEqual("<svg" in shown, shutil.which("gnuplot") is not None)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_the_chart_is_that_of_the_command_line(self):
        path = os.path.join(self.folder, "chart.svg")
        command("plan", example("fig1.yaml"), "--plot", path)
        with open(path, encoding="utf-8") as stream:
            self.assertEqual(howmany.plan(example("fig1.yaml")).chart(), stream.read())

    def test_plans_of_a_table(self):
        table = [{"communicate": "1 s*ln(n)", "max_n": 4}, {"communicate": "2 s*ln(n)", "max_n": None}]
        answers = howmany.plans(table, JOB)
        self.assertEqual([answer.best.n for answer in answers], [4, 5])
        self.assertEqual([row["n"] for row in answers.to_dicts()], [4, 5])
        with self.assertRaisesRegex(TypeError, r"plans\(\) has no argument 'deadlin'; did you mean deadline\?"):
            howmany.plans(table, JOB, deadlin=3)


if __name__ == "__main__":
    unittest.main()
