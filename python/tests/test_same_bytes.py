"""The same request through Python, the command line and HTTP gives the same bytes of JSON.

A file is named by Python and the command line, so both answers name it; its contents are sent by Python and to the
server, so both answers call it by the name of the field.
"""
import json
import unittest
from urllib.parse import quote

import howmany
from howmany import _verbs
from support import Case, Server, command, example, read

TRACES = "algorithm,m,iteration,objective,seconds\n" + "".join(
    f"a,{m},{i},{0.5 + (0.9 ** i) * (1 + 0.01 * m):.6g},{0.1 / m:.6g}\n" for m in (1, 2, 4) for i in range(1, 21))
EDGES = "\n".join(f"{i} {(i * 7 + k) % 50}" for i in range(50) for k in (1, 2) if i != (i * 7 + k) % 50) + "\n"


class SameBytes(Case):
    def test_plan(self):
        python = howmany.plan(example("resnet50.yaml"), on="p4d.24xlarge,g5.12xlarge", deadline="1h", set={"batch": 128})
        self.assertEqual(python.json, command("plan", example("resnet50.yaml"), "--on", "p4d.24xlarge,g5.12xlarge", "--deadline",
                                              "1h", "--set", "batch=128", "--json"))
        self.compare_server("/v1/plan", {"job": read("examples/fig1.yaml"), "max_n": 20, "goal": "time"},
                            lambda **body: howmany.plan(**body))

    def test_plan_of_dict(self):
        job = {"compute": "10 s/n", "communicate": "1 s*ln(n)", "cluster": {"price": "$1/h"}}
        self.compare_server("/v1/plan", {"job": job, "deadline": "1h"}, lambda **body: howmany.plan(**body))

    def test_fit(self):
        python = howmany.fit(example("runs.csv"), target={"n": 64, "size": 1}, terms=["1", "size/n", "ln(n)"])
        self.assertEqual(python.json, command("fit", example("runs.csv"), "--target", "n=64,size=1", "--terms",
                                              "1,size/n,ln(n)", "--json"))
        self.compare_server("/v1/fit", {"runs": read("examples/runs.csv"), "predict": [32, 64]}, lambda **body: howmany.fit(**body))

    def test_design(self):
        python = howmany.design(example("resnet50.yaml"), n=range(1, 9), budget=10)
        self.assertEqual(python.json, command("design", example("resnet50.yaml"), "--n", "1..8", "--budget", "10", "--json"))
        self.compare_server("/v1/design", {"n": "1..8", "size": [0.1, 0.2], "budget": 10}, lambda **body: howmany.design(**body))

    def test_recommend(self):
        python = howmany.recommend(example("anwar.csv"), batch=128, latency="10ms")
        self.assertEqual(python.json, command("recommend", example("anwar.csv"), "--batch", "128", "--latency", "10ms", "--json"))
        self.compare_server("/v1/recommend", {"runs": read("examples/anwar.csv"), "batch": 128, "latency": "10ms"}, lambda **body: howmany.recommend(**body))

    def test_converge_and_advise(self):
        path = self.folder + "/traces.csv"
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(TRACES)
        self.assertEqual(howmany.converge(path, best=0.5).json, command("converge", path, "--best", "0.5", "--json"))
        self.assertEqual(howmany.advise([path], best=0.5, loss=1e-2, m=[1, 2, 4]).json,
                         command("advise", path, "--best", "0.5", "--loss", "0.01", "--m", "1,2,4", "--json"))
        self.compare_server("/v1/converge", {"traces": TRACES, "best": 0.5, "leave_out": "each"}, lambda **body: howmany.converge(**body))
        self.compare_server("/v1/advise", {"traces": TRACES, "best": 0.5, "loss": 0.01}, lambda **body: howmany.advise(**body))

    def test_graph(self):
        path = self.folder + "/graph.edges"
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(EDGES)
        self.assertEqual(howmany.graph(path, parts="2,4", format="edges").json,
                         command("graph", path, "--parts", "2,4", "--format", "edges", "--json"))
        self.compare_server("/v1/graph", {"graph": EDGES, "parts": [2, 4]}, lambda **body: howmany.graph(**body))

    def test_catalog(self):
        server = self.server()
        self.assertEqual(howmany.catalog().json, command("catalog", "list", "--json"))
        self.assertEqual(howmany.catalog().json, server.get("/v1/catalog"))
        self.assertEqual(howmany.catalog("machines").json, server.get("/v1/catalog/machines"))
        self.assertEqual(howmany.catalog_show("p3.2xlarge").json, command("catalog", "show", "p3.2xlarge", "--json"))
        self.assertEqual(howmany.catalog_show("p3.2xlarge", kind="machines").json, server.get("/v1/catalog/machines/p3.2xlarge"))

    def test_import(self):
        config = example("config-llama-3-8b.json")
        self.assertEqual(_verbs.import_([config]).json, command("import", config, "--json"))
        self.assertEqual(_verbs.import_([config], as_="hf-config").json, command("import", config, "--as", "hf-config", "--json"))
        log = "".join(f"iter {i}: loss {9 - i}, time {100 + i}.00ms, mfu 1%\n" for i in range(4))
        self.assertEqual(_verbs.import_(log, set={"n": 4}).json, self.server().post("/v1/import?set=" + quote("n=4"), log, "text/plain"))

    def test_runs(self):
        store = howmany.Store(self.store)
        store.load(example("anwar.csv"))
        store.add(n=4, seconds=2.5, batch=100, key="one", note="by hand")
        server = self.server()
        self.assertEqual(store.page(where={"n": 4}, sort="seconds", limit=5).json,
                         command("runs", "list", "--record", self.store, "--where", "n=4", "--sort", "seconds", "--limit", "5", "--json"))
        self.assertEqual(store.page(where=["n=4"], limit=5).json, server.get("/v1/runs?where=" + quote("n=4") + "&limit=5"))
        self.assertEqual(store.show(3).json, command("runs", "show", "3", "--record", self.store, "--json"))
        self.assertEqual(str(_verbs.runs_check(record=self.store)).strip(), command("runs", "check", "--record", self.store).strip())
        self.assertEqual(store.show(3).json, server.get("/v1/runs/3"))
        self.assertEqual(store.export(), command("runs", "export", "--record", self.store, "--csv"))
        added = _verbs.runs_add({"n": 2, "seconds": 3}, record=self.store, key="k").json
        self.assertEqual(json.loads(added)["added"], 1)
        self.assertEqual(_verbs.runs_add({"n": 2, "seconds": 3}, record=self.store, key="k").json,
                         command("runs", "add", "n=2", "seconds=3", "--key", "k", "--record", self.store, "--json"))
        self.assertEqual(_verbs.runs_import(example("anwar.csv"), record=self.store).json,
                         command("runs", "import", example("anwar.csv"), "--record", self.store, "--json"))
        rows = [{"n": 8, "seconds": 1.5}]
        self.assertEqual(json.loads(server.post("/v1/runs", json.dumps(rows)))["added"], 1)
        self.assertEqual(_verbs.runs_import(rows, record=self.store).json, server.post("/v1/runs", json.dumps(rows)))
        store.put("job", "fig1", example("fig1.yaml"))
        self.assertEqual(store.get("job", "fig1"), command("runs", "get", "job", "fig1", "--record", self.store))
        self.assertEqual(_verbs.runs_documents(record=self.store).json, command("runs", "documents", "--record", self.store, "--json"))
        self.assertEqual([row["name"] for row in store.documents("job")], ["fig1"])
        self.assertTrue(store.delete(1))
        self.assertFalse(store.delete(1))

    def test_every_verb_is_compared(self):
        """The table of requests in this file has every verb."""
        text = read("python/tests/test_same_bytes.py")
        calls = {"runs list": "store.page(", "runs show": "store.show(", "runs export": "store.export(", "runs delete": "store.delete(",
                 "runs put": "store.put(", "runs get": "store.get(", "runs documents": "_verbs.runs_documents(", "catalog list":
                 "howmany.catalog(", "runs add": "_verbs.runs_add(", "runs import": "_verbs.runs_import(", "runs check": "_verbs.runs_check(", "import": "_verbs.import_("}
        for name in _verbs.VERBS:
            if name not in ("catalog import", "runs recover"):  # These verbs write a file; test_values.py tests the first.
                self.assertIn(calls.get(name, f"howmany.{name.replace(' ', '_')}("), text)

    def server(self):
        server = Server(self.store)
        self.addCleanup(server.close)
        return server

    def compare_server(self, path, body, ask):
        self.assertEqual(ask(**body).json, self.server().post(path, json.dumps(body)))


if __name__ == "__main__":
    unittest.main()
