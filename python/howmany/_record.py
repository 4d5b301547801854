"""Recording a training loop: one run with its iterations, written when the loop ends."""
from __future__ import annotations

import json
import math
import os
import socket
import statistics
import sys
import time
import urllib.error
import urllib.request
import uuid
import warnings
from array import array
from ctypes import byref, c_int64, c_void_p
from types import TracebackType
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple, Type, Union

from . import _library
from ._library import STORED_NUMBERS, STORED_TEXTS, Err, Stored, StoredSample
from ._store import Store
from ._values import known

#: Variables in which launchers give the number of processes and the rank: torchrun, Slurm, Open MPI, MPICH.
WORLD_SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
#: A run with more iterations than this is stored with evenly spaced ones; to a server fewer are sent, since a request may
#: have 1 MiB.
MOST_SAMPLES = 10000
MOST_SENT = 5000
#: The largest number that a store accepts.
MOST_LOSS = 1e50


def from_environment(names: Tuple[str, ...], fallback: int) -> int:
    for name in names:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return fallback


def detached(loss: Any) -> Any:
    """The loss without the graph that computed it. It is not yet converted to a number, since that would wait
    for the accelerator."""
    return loss.detach() if hasattr(loss, "detach") else loss


def number(value: Any) -> float:
    """A loss as a number; NaN if it is none that a store accepts, such as the infinite loss of a run that diverged."""
    try:
        loss = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return loss if abs(loss) <= MOST_LOSS else math.nan


def processor_name() -> Optional[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                if line.lower().startswith(("model name", "cpu model")):
                    return line.split(":", 1)[1].strip() or None
    except OSError:
        pass
    return None


def device_name() -> Optional[str]:
    """The accelerator that PyTorch or TensorFlow uses in this process, else the processor."""
    torch, tensorflow = sys.modules.get("torch"), sys.modules.get("tensorflow")
    try:
        if torch and torch.cuda.is_available():
            return str(torch.cuda.get_device_name())
        found = tensorflow.config.list_physical_devices("GPU") if tensorflow else []
        if tensorflow and found:
            return str(tensorflow.config.experimental.get_device_details(found[0]).get("device_name") or found[0].name)
    except (AttributeError, RuntimeError, ValueError):
        pass
    return processor_name()


class Recorder:
    """Records the iterations of a training loop; see record()."""

    def __init__(self, iterable: Optional[Iterable[Any]], n: int, to: Optional[str], token: Optional[str],
                 rank: int, columns: Dict[str, Any]) -> None:
        self.n, self.to, self.rank, self.columns = n, to, rank, columns
        self.status = "ok"
        self.error: Optional[Exception] = None  #: why the run could not be written
        self._iterable, self._token = iterable, token
        self._model: Any = None
        self._ends = array("d")  # the time at which each iteration ended
        self._losses: List[Tuple[int, Any]] = []
        self._samples = 0.0
        self._began = time.perf_counter()
        self._made_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._iterating = self._written = False

    # ---- the loop ----

    def start(self) -> None:
        """Begin the first iteration now, instead of when the recorder was made."""
        self._began = time.perf_counter()

    def note(self, loss: Any = None, samples: Optional[float] = None) -> None:
        """Give the loss and the samples (of this worker) of the current iteration."""
        if loss is not None:
            self._losses.append((len(self._ends) + 1, detached(loss)))
        if samples is not None:
            self._samples += samples

    def note_last(self, loss: Any) -> None:
        """Give the loss of the iteration that has just ended."""
        if self._ends:
            self._losses.append((len(self._ends), detached(loss)))

    def step(self, loss: Any = None, samples: Optional[float] = None) -> None:
        """End an iteration. Inside `for … in record(…)` the iteration ends by itself."""
        if loss is not None or samples is not None:
            self.note(loss, samples)
        if not self._iterating:
            self._ends.append(time.perf_counter())

    def __iter__(self) -> Iterator[Any]:
        if self._iterable is None:
            raise TypeError("record() was given nothing to iterate over")
        self._iterating = True
        first = True
        self.start()
        try:
            for item in self._iterable:
                if not first:
                    self._ends.append(time.perf_counter())
                first = False
                yield item
            if not first:
                self._ends.append(time.perf_counter())
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._iterating = False
            self.close()

    def __enter__(self) -> "Recorder":
        self.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._fail(error)
        self.close()

    def _fail(self, error: Optional[BaseException]) -> None:
        if error is None or isinstance(error, GeneratorExit):
            return
        name = type(error).__name__
        self.status = ("out of memory" if isinstance(error, MemoryError) or name == "OutOfMemoryError" else
                       "interrupted" if isinstance(error, KeyboardInterrupt) else name)

    def take(self, seconds: Iterable[float]) -> None:
        """Take the seconds of iterations that were measured elsewhere, after those so far."""
        end = self._ends[-1] if self._ends else self._began
        for value in seconds:
            end += value
            self._ends.append(end)

    # ---- the model ----

    def of(self, model: Any) -> "Recorder":
        """Say which model is trained, so that sheet() can describe it. Returns the recorder."""
        self._model = model
        return self

    def sheet(self, **keys: Any) -> Dict[str, Any]:
        """The job that describes the recorded training, for howmany.plan: the shape of the model and the batch.
        The arguments are those of howmany.callbacks.sheet."""
        from .callbacks import sheet

        if self._model is None:
            raise ValueError("the recorder does not know the model: use a recorder of howmany.callbacks, or of(model)")
        batch = self.run().get("batch")
        return sheet(self._model, **{**({"batch": batch} if batch else {}), **keys})

    # ---- the run ----

    @property
    def iterations(self) -> int:
        """The number of iterations that have ended."""
        return len(self._ends)

    @property
    def seconds(self) -> List[float]:
        """The seconds of each iteration so far."""
        return [end - begin for begin, end in zip([self._began, *self._ends], self._ends)]

    def run(self) -> Dict[str, Any]:
        """The run as columns of the store; unknown ones are left out."""
        times, losses = self.seconds, [number(loss) for _, loss in self._losses]
        values: Dict[str, Any] = {"n": self.n, "status": self.status, "made_at": self._made_at, "host": socket.gethostname(),
                                  "key": uuid.uuid4().hex, "device": device_name()}
        if times:
            total = self._ends[-1] - self._began
            values.update(iterations=len(times), total=total)
            if self.status == "ok":
                values["seconds"] = statistics.median(times)
            if self._samples:
                data_parallel = self.columns.get("data_parallel") or self.n
                values["batch"] = self._samples / len(times) * float(data_parallel)
        if losses and math.isfinite(losses[-1]):
            values["loss"] = losses[-1]
        values.update(self.columns)
        return known(values)

    def samples(self, most: int = MOST_SAMPLES) -> List[Tuple[int, float, float, float]]:
        """(iteration, seconds, elapsed seconds, loss) of the iterations whose loss is known, or of all if none is; at most
        so many, evenly spaced."""
        times = self.seconds
        losses = {iteration: number(loss) for iteration, loss in self._losses if iteration <= len(times)}
        chosen = sorted(losses) if losses else range(1, len(times) + 1)
        stride = -(-len(chosen) // most) if chosen else 1
        return [(i, times[i - 1], self._ends[i - 1] - self._began, losses.get(i, math.nan))
                for i in list(chosen)[stride - 1::stride]]

    def close(self) -> None:
        """Write the run, once. A failure to write is a warning, so that it does not end a training program."""
        if self._written or not self._ends and self.status == "ok":
            return
        self._written = True
        if self.rank != 0:
            return
        try:
            write(self, self.to, self._token)
        except Exception as error:  # whatever a column, a proxy or a library raises
            self.error = error
            warnings.warn(f"howmany could not record the run: {error}", RuntimeWarning, stacklevel=2)


# ---- writing --------------------------------------------------------------------------------------


def write(recorder: Recorder, to: Optional[str], token: Optional[str]) -> None:
    if to == "-":
        write_lines(recorder)
    elif to is not None and to.startswith(("http://", "https://")):
        write_server(recorder, to, token)
    else:
        write_store(recorder, to)


def write_lines(recorder: Recorder) -> None:
    """The lines that `howmany bench` reads."""
    losses = dict(recorder._losses)
    for i, seconds in enumerate(recorder.seconds, 1):
        line: Dict[str, Any] = {"iteration": i, "seconds": seconds}
        loss = number(losses.get(i, math.nan))
        if math.isfinite(loss):
            line["loss"] = loss
        print(json.dumps(line))
    sys.stdout.flush()


def column(value: Any) -> Any:
    """A column that is neither a number nor a text: the value of a number or an array of numpy, else its text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def write_server(recorder: Recorder, to: str, token: Optional[str]) -> None:
    """Send the run with its samples to a server."""
    names = [field[0] for field in StoredSample._fields_]
    run = {**recorder.run(), "samples": [{name: float(f"{value:.9g}") for name, value in zip(names, sample) if math.isfinite(value)}
                                         for sample in recorder.samples(MOST_SENT)]}
    head = {"Content-Type": "application/json"}
    token = token or os.environ.get("HOWMANY_TOKEN")
    if token:
        head["Authorization"] = f"Bearer {token}"
    body = json.dumps([run], separators=(",", ":"), default=column).encode()
    request = urllib.request.Request(to.rstrip("/") + "/v1/runs", body, head, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            response.read()
    except urllib.error.HTTPError as error:
        raise refusal(to, error) from error


def refusal(to: str, error: urllib.error.HTTPError) -> _library.Error:
    """The error of a server that does not take a run; its body is a problem document (RFC 9457) if the server is ours."""
    text = error.read().decode(errors="replace")
    try:
        problem = json.loads(text)
        detail, field, hint = (str(problem.get(name) or "") for name in ("detail", "field", "hint"))
    except (ValueError, AttributeError):
        detail, field, hint = text[:300], "", ""
    if error.code in (401, 403):
        hint = "give token, or set HOWMANY_TOKEN, to a token that may write"
    return _library.Error(f"{to} refused the run ({error.code}): {detail or error.reason}", code="io", field=field, hint=hint)


def write_store(recorder: Recorder, to: Optional[str]) -> None:
    run, points = recorder.run(), recorder.samples()
    row = Stored()
    for name in STORED_NUMBERS:
        setattr(row, name, float(run.pop(name, math.nan)))
    for name in STORED_TEXTS:
        if name in run:
            setattr(row, name, _library.c_text(str(run.pop(name)), name))
    if run:
        row.more = json.dumps({k: v if isinstance(v, (int, float)) and not isinstance(v, bool) else str(v)
                               for k, v in run.items()}).encode()
    row.samples = (StoredSample * len(points))(*(StoredSample(*point) for point in points))
    row.sample_count = len(points)
    store, err, added = c_void_p(), Err(), c_int64()
    where = _library.c_text(_library.default_store() if to is None else to, "to")
    _library.check(_library.lib.hm_store_open(where, byref(store), byref(err)), err)
    try:
        _library.check(_library.lib.hm_store_add(store, byref(row), 1, byref(added), None, byref(err)), err)
    finally:
        _library.lib.hm_store_close(store)


def record(iterable: Optional[Iterable[Any]] = None, *, n: Optional[int] = None,
           to: Union[str, "os.PathLike[str]", Store, None] = None, token: Optional[str] = None, rank: Optional[int] = None,
           **columns: Any) -> Recorder:
    """Record a training loop, as a context manager or around what the loop iterates over.

        with howmany.record(n=4, batch=256) as run:
            for batch in loader:
                loss = train(batch)
                run.step(loss=loss)

        for batch in howmany.record(loader, n=4, batch=256):
            train(batch)

    Args:
        iterable: what the loop iterates over
        n: number of workers; without it WORLD_SIZE or the variables of Slurm and MPI, else 1
        to: a store (.db file, postgresql://…), a server (http://…), or "-": lines on standard output for
            `howmany bench`. Without it HOWMANY_DB, else the person's own store
        token: of the server; without it HOWMANY_TOKEN
        rank: only rank 0 writes; without it RANK or the variables of Slurm and MPI
        columns: batch (samples of one iteration of the whole job), machine, algorithm, job, …; other names, such
            as tensor_parallel or precision, are kept too
    """
    where: Any = to.where if isinstance(to, Store) else to
    return Recorder(iterable, n if n is not None else from_environment(WORLD_SIZES, 1),
                    os.fspath(where) if where is not None else None, token,
                    rank if rank is not None else from_environment(RANKS, 0), columns)
