"""From the arguments of a function to an answer."""
from __future__ import annotations

import functools
import keyword
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, cast

from . import _library
from ._answers import Answer
from ._values import Fields, encode, parameters, suggestion

#: Fields that name files to write.
OUTPUTS = ("plot", "save", "output")
T = TypeVar("T", bound=Answer)
F = TypeVar("F", bound=Callable[..., Any])


class Verb(NamedTuple):
    """A verb: its formats, and its fields that are documents or pairs."""
    name: str
    json: bool
    csv: bool
    plot: bool
    kinds: Dict[str, str]


class Request:
    """A request that can be run in several formats."""

    def __init__(self, verb: Verb, arguments: Mapping[str, Any]) -> None:
        self.verb = verb
        # A parameter whose name would be a keyword of Python has an underscore after it.
        named = {key[:-1] if keyword.iskeyword(key[:-1]) else key: value for key, value in arguments.items()}
        self.fields = Fields(verb.kinds, named)

    def run(self, *extra: Tuple[str, str], quiet: bool = False) -> _library.Reply:
        """Run the request with more fields; with `quiet`, no files are written."""
        fields = self.fields
        texts = [pair for pair in fields.texts if not (quiet and pair[0] in OUTPUTS)]
        try:
            return _library.run(self.verb.name, [*texts, *extra], fields.contents, encode(fields.trees) if fields.trees else None)
        except _library.Error as error:
            if error.code == "io" and not error.hint and any(": " in text and text == error.source for _, text in texts):
                raise error.hinted("a text without a line break is the name of a file; give contents with a line break, or a dict"
                                   ) from None
            raise

    def chart(self) -> Optional[str]:
        """The picture of the answer as SVG; None if the verb has none or gnuplot is not installed."""
        if not self.verb.plot or not shutil.which("gnuplot"):
            return None
        folder = tempfile.mkdtemp(prefix="howmany-")
        try:
            path = os.path.join(folder, "chart.svg")
            write_files([file for file in self.run(("plot", path), quiet=True).files if file.program])
            with open(path, encoding="utf-8") as stream:
                return stream.read()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def draw(script: str) -> None:
    """Run a script of gnuplot; it names the picture that it writes."""
    program = shutil.which("gnuplot")
    if not program:
        raise _library.Error("gnuplot is not installed, so there is no picture", code="unsupported", field="plot",
                             hint="install gnuplot (Debian: gnuplot-nox)")
    done = subprocess.run([program, "-"], input=script.encode(), capture_output=True, check=False)
    if done.returncode:
        raise _library.Error("gnuplot failed: " + done.stderr.decode(errors="replace").strip()[-200:], code="io", field="plot")


def write_file(path: str, text: str) -> None:
    """Write a whole file: an older file with this name stays as it is until the new one is complete on the disk."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):  # a pipe or a device
        with open(target, "w", encoding="utf-8") as stream:
            stream.write(text)
        return
    if os.path.exists(target):
        with open(target, "ab"):  # A file without permission to write must not be replaced either.
            pass
    beside = os.path.join(os.path.dirname(target), ".howmany-" + uuid.uuid4().hex)
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if os.path.exists(target):
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise


def write_files(files: Sequence[_library.File]) -> None:
    for file in files:
        if file.program:
            draw(file.text)
        elif file.path == "-":
            sys.stdout.write(file.text)
        else:
            write_file(file.path, file.text)


def unknown_argument(function: str, name: str, names: Sequence[str]) -> TypeError:
    """The error for an argument that a function does not have."""
    hint = suggestion(name, names)
    if not hint and "set" in names:
        hint = f"; a key of the job is given by set={{{name!r}: …}}"
    return TypeError(f"{function}() has no argument '{name}'{hint}")


def checked(function: F) -> F:
    """Make a function name the argument that was probably meant when it gets one that it does not have."""
    names = parameters(function)
    known = frozenset(names)

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        if not named.keys() <= known:
            raise unknown_argument(function.__name__, next(name for name in named if name not in known), names)
        return function(*positional, **named)

    return cast(F, call)


def ask(cls: Type[T], verb: Verb, arguments: Mapping[str, Any]) -> T:
    """Run a request; the answer is JSON if the verb supports it, else text."""
    request = Request(verb, arguments)
    reply = request.run(*([("json", "true")] if verb.json else []))
    write_files(reply.files)
    return cls._of_reply(reply.text, reply.answered, request)
