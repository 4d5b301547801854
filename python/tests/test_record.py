"""Recording loops: to a store, to a server, to standard output; and what a recorder costs."""
import contextlib
import io
import json
import math
import os
import socket
import sys
import threading
import time
import types
import unittest
import warnings
from unittest import mock

import howmany
from support import Case, Server, command


def only_run(store):
    runs = list(howmany.Store(store).runs())
    assert len(runs) == 1, runs
    return runs[0]


@contextlib.contextmanager
def http_server(answer):
    """The address of a server that gives every request the same bytes as its answer."""
    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(100000)
                    connection.sendall(answer)

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


class Values:
    """An array as that of numpy, which the json module does not know."""

    def __init__(self, items):
        self.items = items

    def tolist(self):
        return self.items


class Record(Case):
    def test_context_manager(self):
        with howmany.record(n=4, batch=256, to=self.store, machine="m5.large", tensor_parallel=2, precision="bf16") as run:
            for i in range(5):
                run.step(loss=1 / (i + 1))
        stored = only_run(self.store)
        self.assertEqual((stored.n, stored.batch, stored.iterations, stored.status), (4, 256, 5, "ok"))
        self.assertEqual((stored.machine, stored["tensor_parallel"], stored["precision"]), ("m5.large", 2, "bf16"))
        self.assertAlmostEqual(stored.loss, 0.2)
        self.assertTrue(0 < stored.seconds <= stored.total)
        self.assertEqual(stored.host, socket.gethostname())
        self.assertTrue(stored["device"])
        samples = howmany.Store(self.store).show(stored.id).to_dict()["samples"]
        self.assertEqual([round(1 / s["loss"]) for s in samples], [1, 2, 3, 4, 5])

    def test_seconds_are_those_of_the_iterations(self):
        with mock.patch("howmany._record.time.perf_counter", side_effect=[0, 10, 11, 13, 16]):
            with howmany.record(n=1, to=self.store) as run:
                for _ in range(3):
                    run.step()
        self.assertEqual((only_run(self.store).seconds, only_run(self.store).total), (2, 6))

    def test_iterator(self):
        run = howmany.record(range(7), n=2, to=self.store)
        seen = []
        for item in run:
            seen.append(item)
            run.note(loss=float(item), samples=8)
        stored = only_run(self.store)
        self.assertEqual((seen, stored.iterations, stored.batch, stored.loss), (list(range(7)), 7, 16, 6))

    def test_a_loop_that_is_left_is_recorded(self):
        for item in howmany.record(range(100), n=2, to=self.store):
            if item == 3:
                break
        self.assertEqual((only_run(self.store).iterations, only_run(self.store).status), (3, "ok"))

    def test_a_loop_that_fails_is_recorded_as_failed(self):
        with self.assertRaises(MemoryError):
            with howmany.record(n=2, to=self.store) as run:
                run.step()
                raise MemoryError
        stored = only_run(self.store)
        self.assertEqual((stored.status, stored.to_dict().get("seconds")), ("out of memory", None))

    def test_n_and_rank_of_launchers(self):
        with mock.patch.dict(os.environ, {"WORLD_SIZE": "8", "RANK": "0"}):
            self.assertEqual(howmany.record().n, 8)
        with mock.patch.dict(os.environ, {"SLURM_NTASKS": "6", "SLURM_PROCID": "2"}):
            run = howmany.record(to=self.store)
            self.assertEqual((run.n, run.rank), (6, 2))
            run.step()
            run.close()
        self.assertFalse(os.path.exists(self.store))  # Only rank 0 writes.

    def test_server(self):
        server = Server(self.store)
        self.addCleanup(server.close)
        with howmany.record(n=3, batch=64, to=server.address, sharding="full") as run:
            run.step(loss=2.5)
            run.step(loss=0.5)
        stored = only_run(self.store)
        self.assertEqual((stored.n, stored.batch, stored.loss, stored["sharding"]), (3, 64, 0.5, "full"))
        samples = howmany.Store(self.store).show(stored.id).to_dict()["samples"]
        self.assertEqual([(s["iteration"], s["loss"]) for s in samples], [(1, 2.5), (2, 0.5)])
        for sample, seconds in zip(samples, run.seconds):
            self.assertAlmostEqual(sample["seconds"] / seconds, 1, places=6)

    def test_a_long_run_fits_into_a_request(self):
        server = Server(self.store)
        self.addCleanup(server.close)
        run = howmany.record(n=1, to=server.address)
        for i in range(30000):
            run.step(loss=0.123456789012345 + i)
        run.close()
        self.assertIsNone(run.error)
        stored = only_run(self.store)
        self.assertEqual((stored.iterations, len(howmany.Store(self.store).show(stored.id).to_dict()["samples"])), (30000, 5000))

    def test_a_server_that_does_not_answer_does_not_end_the_program(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with howmany.record(n=3, to="http://127.0.0.1:9") as run:
                run.step()
        self.assertIsNotNone(run.error)
        self.assertIn("could not record the run", str(caught[0].message))

    def test_no_error_of_a_recording_ends_the_program(self):
        with http_server(b"this is not HTTP\r\n\r\n") as garbage:
            for columns in ({"n": 10**400}, {"batch": [1]}, {"machine": "a\0b"}, {"job": "\udcff"}, {"to": "runs\0.db"},
                            {"to": garbage}):
                with self.subTest(columns=columns), self.assertWarnsRegex(RuntimeWarning, "could not record the run"):
                    with howmany.record(**{"n": 2, "to": self.store, **columns}) as run:
                        run.step()
                self.assertIsNotNone(run.error)

    def test_a_run_that_diverges_is_recorded(self):
        for to in ("store", "server"):
            store = os.path.join(self.folder, to + ".db")
            server = Server(store) if to == "server" else None
            with howmany.record(n=2, to=server.address if server else store, slack=math.nan, places=Values(3)) as run:
                for loss in (2.0, math.inf, 1e60, 10**400, math.nan):
                    run.step(loss=loss)
            if server:
                server.close()
            self.assertIsNone(run.error)
            samples = howmany.Store(store).show(only_run(store).id).to_dict()["samples"]
            self.assertEqual([sample.get("loss") for sample in samples], [2.0, None, None, None, None])

    def test_a_server_that_refuses_a_run_says_why(self):
        tokens = os.path.join(self.folder, "tokens")
        token, line = command("serve", "--make-token", "write").splitlines()
        with open(tokens, "w", encoding="utf-8") as stream:
            stream.write(line + "\n")
        server = Server(self.store, "--token-file", tokens)
        self.addCleanup(server.close)
        run = howmany.record(n=3, to=server.address)
        run.step()
        with self.assertWarnsRegex(RuntimeWarning, r"refused the run \(401\)"):
            run.close()
        self.assertIn("HOWMANY_TOKEN", run.error.hint)
        run = howmany.record(n=0, to=server.address, token=token)
        run.step()
        with self.assertWarnsRegex(RuntimeWarning, r"n: http://[^ ]* refused the run \(422\): '?0'? must be"):
            run.close()
        self.assertEqual(run.error.field, "n")

    def test_standard_output_is_what_bench_reads(self):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            with howmany.record(n=1, to="-") as run:
                run.step(loss=2.0)
                run.step(loss=math.nan)
        lines = [json.loads(line) for line in shown.getvalue().splitlines()]
        self.assertEqual([(line["iteration"], line.get("loss")) for line in lines], [(1, 2.0), (2, None)])

    def test_recorded_runs_are_fitted(self):
        for n in (1, 2, 4, 8):
            with mock.patch("howmany._record.time.perf_counter", side_effect=[0, 0, 8 / n + 0.5, 16 / n + 1]):
                with howmany.record(n=n, to=self.store) as run:
                    run.step()
                    run.step()
        fit = howmany.fit(howmany.Store(self.store), terms="1,1/n", predict=16)
        self.assertAlmostEqual(fit.predictions[0].time_s, 1.0, places=6)
        self.assertIn("4 runs", command("fit", self.store, "--terms", "1,1/n"))

    def test_losses_are_converted_after_the_loop(self):
        class Loss:
            detached = converted = 0

            def detach(self):
                Loss.detached += 1
                return self

            def __float__(self):
                Loss.converted += 1
                return 0.25

        run = howmany.record(n=1, to=self.store)
        run.step(loss=Loss())
        self.assertEqual((Loss.detached, Loss.converted), (1, 0))
        run.close()
        self.assertEqual(only_run(self.store).loss, 0.25)

    def test_long_runs_are_thinned(self):
        run = howmany.record(n=1, to=self.store)
        for i in range(25000):
            run.step(loss=i)
        self.assertLessEqual(len(run.samples()), 10000)
        self.assertEqual(run.run()["iterations"], 25000)

    def test_the_device_is_the_accelerator_if_there_is_one(self):
        cuda = types.SimpleNamespace(is_available=lambda: True, get_device_name=lambda: "NVIDIA H200")
        with mock.patch.dict(sys.modules, {"torch": types.SimpleNamespace(cuda=cuda)}):
            self.assertEqual(howmany.record(n=1).run()["device"], "NVIDIA H200")
        config = types.SimpleNamespace(list_physical_devices=lambda kind: [types.SimpleNamespace(name="GPU:0")],
                                       experimental=types.SimpleNamespace(get_device_details=lambda _: {"device_name": "Tesla T4"}))
        with mock.patch.dict(sys.modules, {"torch": None, "tensorflow": types.SimpleNamespace(config=config)}):
            self.assertEqual(howmany.record(n=1).run()["device"], "Tesla T4")

    def test_an_iteration_costs_under_20_us(self):
        run = howmany.record(range(50000), n=1, to=self.store)
        begin = time.process_time()
        for _ in run:
            run.note(loss=0.5, samples=32)
            if len(run._ends) == 49998:
                cost = (time.process_time() - begin) / 49998
        print(f"a recorded iteration costs {1e6 * cost:.2f} us")
        self.assertLess(cost, 20e-6)


if __name__ == "__main__":
    unittest.main()
