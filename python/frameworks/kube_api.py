"""A small part of the API of Kubernetes, enough for the recipe of docs/how-to/kubernetes.md with the real kubectl: kube_api.py PORT FOLDER

It is not a cluster. Documents are checked against the schemas of Kubernetes (package kubernetes-validate), which refuse unknown
fields; a pod of an indexed job is a process of this machine in FOLDER, with the container's command and variables and without its
image and resources; the name of the first pod is an address of this machine.
"""
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import kubernetes_validate

KINDS = {"services": ("v1", "Service"), "pods": ("v1", "Pod"), "jobs": ("batch/v1", "Job")}
INDEX = "batch.kubernetes.io/job-completion-index"
folder = sys.argv[2]
objects = {}  # by plural and name
processes = {}  # of the pods, by name
changed = threading.Condition()


def start_pod(job, index):
    """Start the process of an index, and store its pod."""
    spec, name = job["spec"]["template"]["spec"], job["metadata"]["name"]
    labels = {**job["spec"]["template"]["metadata"].get("labels", {}), INDEX: str(index)}
    host = f"{name}-0.{spec.get('subdomain')}"
    assert spec.get("subdomain") in {service["metadata"]["name"] for plural, service in stored() if plural == "services"}
    container = spec["containers"][0]
    environment = dict(os.environ)
    for variable in container.get("env", []):
        path = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        assert path in (None, f"metadata.annotations['{INDEX}']"), path
        environment[variable["name"]] = variable["value"].replace(host, "127.0.0.1") if path is None else str(index)
    pod = f"{name}-{index}-abcde"
    output = tempfile.TemporaryFile()
    processes[pod] = subprocess.Popen(container["command"], cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL), output
    store("pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "namespace": "default", "labels": labels},
                   "spec": spec, "status": {"phase": "Running"}})


def run_job(job):
    """Start the pods of a job; when all have ended, say whether it is complete."""
    assert job["spec"]["completionMode"] == "Indexed" and job["spec"]["parallelism"] == job["spec"]["completions"]
    for index in range(job["spec"]["completions"]):
        start_pod(job, index)

    def finish():
        codes = [process.wait() for process, _ in list(processes.values())]
        job["status"] = {"conditions": [{"type": "Failed" if any(codes) else "Complete", "status": "True"}]}
        store("jobs", job)

    threading.Thread(target=finish, daemon=True).start()


def stored():
    return [(plural, thing) for (plural, _), thing in objects.items()]


def store(plural, thing):
    with changed:
        thing["metadata"]["resourceVersion"] = str(time.monotonic_ns())
        objects[plural, thing["metadata"]["name"]] = thing
        changed.notify_all()


def resources(version):
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version,
            "resources": [{"name": plural, "singularName": kind.lower(), "namespaced": True, "kind": kind,
                           "verbs": ["create", "delete", "get", "list", "patch", "watch"]}
                          for plural, (group, kind) in KINDS.items() if group == version]}


def open_api(version):
    """Says that PATCH of these kinds can check fields, so that kubectl leaves this to the server."""
    base = "/api/v1" if version == "v1" else f"/apis/{version}"
    return {"openapi": "3.0.0", "info": {"title": "", "version": ""}, "paths": {
        f"{base}/namespaces/{{namespace}}/{plural}/{{name}}": {"patch": {
            "x-kubernetes-group-version-kind": {"group": version.rpartition("/")[0], "kind": kind, "version": "v1"},
            "parameters": [{"name": "fieldValidation", "in": "query"}], "responses": {}}}
        for plural, (group, kind) in KINDS.items() if group == version}}


DISCOVERY = {"/api": {"kind": "APIVersions", "versions": ["v1"]}, "/api/v1": resources("v1"), "/apis/batch/v1": resources("batch/v1"),
             "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                 {"name": "batch", "versions": [{"groupVersion": "batch/v1", "version": "v1"}],
                  "preferredVersion": {"groupVersion": "batch/v1", "version": "v1"}}]},
             "/openapi/v3": {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1"},
                                       "apis/batch/v1": {"serverRelativeURL": "/openapi/v3/apis/batch/v1"}}},
             "/openapi/v3/api/v1": open_api("v1"), "/openapi/v3/apis/batch/v1": open_api("batch/v1")}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def reply(self, value, code=200, kind="application/json"):
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text)

    def fail(self, code, reason, message=""):
        self.reply({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}, code)

    def target(self):
        """Plural, name and subresource of the path, and the query."""
        path, _, query = self.path.partition("?")
        found = re.fullmatch(r"/apis?/(?:batch/)?v1/namespaces/default/(\w+)(?:/([\w-]+))?(?:/(\w+))?", path)
        parts = found.groups() if found else (None, None, None)
        return path, *parts, {name: values[0] for name, values in urllib.parse.parse_qs(query).items()}

    def chosen(self, plural, query):
        """Objects that the selectors of a list name."""
        selector = query.get("labelSelector", "")
        wanted = dict(pair.split("=") for pair in selector.split(",")) if selector else {}
        name = query.get("fieldSelector", "").replace("metadata.name=", "")
        return [thing for kind, thing in stored() if kind == plural and name in ("", thing["metadata"]["name"])
                and wanted.items() <= thing["metadata"].get("labels", {}).items()]

    def watch(self, plural, query):
        """Send the next change of the chosen objects."""
        since = int(query.get("resourceVersion") or 0)
        with changed:
            before = self.chosen(plural, query)
            changed.wait_for(lambda: len(self.chosen(plural, query)) != len(before) or any(
                int(thing["metadata"]["resourceVersion"]) > since for thing in self.chosen(plural, query)))
            after = self.chosen(plural, query)
        events = [{"type": "MODIFIED", "object": thing} for thing in after] or [{"type": "DELETED", "object": thing} for thing in before]
        self.reply(b"".join(json.dumps(event).encode() + b"\n" for event in events))

    def do_GET(self):
        path, plural, name, part, query = self.target()
        if path in DISCOVERY:
            self.reply(DISCOVERY[path])
        elif plural not in KINDS:
            self.fail(404, "NotFound", path)
        elif part == "log":
            process, output = processes[name]
            output.seek(0)
            lines = output.read().splitlines(keepends=True)
            self.reply(b"".join(lines[-int(query["tailLines"]):] if "tailLines" in query else lines), kind="text/plain")
        elif name:
            thing = objects.get((plural, name))
            if thing:
                self.reply(thing)
            else:
                self.fail(404, "NotFound", f"{plural} {name}")
        elif query.get("watch") in ("true", "1"):
            self.watch(plural, query)
        else:
            version, kind = KINDS[plural]
            self.reply({"kind": kind + "List", "apiVersion": version, "metadata": {"resourceVersion": str(time.monotonic_ns())},
                        "items": self.chosen(plural, query)})

    def do_POST(self):
        _, plural, _, _, query = self.target()
        thing = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            kubernetes_validate.validate(thing, kubernetes_validate.latest_version(), strict=query.get("fieldValidation") == "Strict")
        except kubernetes_validate.ValidationError as error:
            return self.fail(400, "BadRequest", error.message)
        thing["metadata"].setdefault("namespace", "default")
        thing["metadata"]["uid"] = str(time.monotonic_ns())
        store(plural, thing)
        if plural == "jobs":
            run_job(thing)
        return self.reply(thing, 201)

    def do_DELETE(self):
        _, plural, name, _, _ = self.target()
        with changed:
            thing = objects.pop((plural, name))
            for kind, pod in [key for key in objects if key[0] == "pods"] if plural == "jobs" else []:
                process, _ = processes.pop(pod)
                process.kill()
                process.wait()
                del objects[kind, pod]
            changed.notify_all()
        self.reply({"kind": "Status", "apiVersion": "v1", "status": "Success",
                    "details": {"name": name, "kind": plural, "uid": thing["metadata"]["uid"]}})


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
