"""The shared library, through ctypes: its structs, the functions of requests, and errors.

ctypes releases the global interpreter lock during each call, so threads run requests in parallel.
A test compares the sizes of the structs with those that the C compiler sees.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import threading
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int,
                    c_int64, c_size_t, c_void_p)
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

CODES = {-1: "nomem", -2: "io", -3: "syntax", -4: "key", -5: "missing", -6: "type", -7: "unit", -8: "range",
         -9: "formula", -10: "name", -11: "limit", -12: "conflict", -13: "unsupported"}

#: The name under which the library gets the arguments that are dicts or lists.
VALUES = "body.json"


class Error(Exception):
    """A request that cannot be answered.

    code: what kind of error it is: nomem, io, syntax, key, missing, type, unit, range, formula, name,
        limit, conflict or unsupported
    field: the argument, or the path of the key inside a document, such as cluster.fabric.bandwidth
    message: what is wrong; it names the value
    hint: what would be right; may be empty
    source, line: the document and its line (for a list of rows, the row); "request" or "", and 0, if the error is about
        an argument
    """

    def __init__(self, message: str, *, code: str = "", field: str = "", hint: str = "", source: str = "",
                 line: int = 0) -> None:
        self.code, self.field, self.message = code, field, message
        self.hint, self.source, self.line = hint, source, line
        place = "" if source in ("", "request") else source + (f":{line}" if line else "") + ": "
        super().__init__(place + (f"{field}: " if field else "") + message + (f"\n  {hint}" if hint else ""))

    def hinted(self, hint: str) -> "Error":
        """The same error with a hint."""
        return Error(self.message, code=self.code, field=self.field, hint=hint, source=self.source, line=self.line)


class Err(Structure):
    """struct hm_err"""
    _fields_ = [("code", c_int), ("line", c_int), ("source", c_char * 256), ("field", c_char * 128),
                ("message", c_char * 384), ("hint", c_char * 256)]

    def exception(self) -> Error:
        def text(value: bytes) -> str:
            return value.decode("utf-8", "replace")

        source, line = text(self.source), int(self.line)
        if source == VALUES:  # The caller gave values, and has no such file.
            source, line = "", 0
        return Error(text(self.message), code=CODES.get(self.code, ""), field=text(self.field), hint=text(self.hint),
                     source=source, line=line)


class Limits(Structure):
    """struct hm_limits"""
    _fields_ = [("seconds", c_double), ("bytes", c_size_t), ("max_n", c_double), ("values", c_size_t),
                ("page", c_size_t), ("page_seconds", c_double), ("runs", c_size_t), ("answer_bytes", c_size_t)]


class Style(Structure):
    """struct hm_style"""
    _fields_ = [("colour", c_bool), ("unicode", c_bool), ("table", c_bool), ("chart", c_bool),
                ("width", c_size_t), ("file", c_char_p)]


STORE_OPEN = CFUNCTYPE(c_int, c_void_p, c_char_p, POINTER(c_void_p), POINTER(Err))
STORE_CLOSE = CFUNCTYPE(None, c_void_p, c_void_p, c_bool)
STORE_ADD = CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p, POINTER(Err))


class StoreAccess(Structure):
    """struct hm_store_access"""
    _fields_ = [("data", c_void_p), ("open", STORE_OPEN), ("close", STORE_CLOSE), ("add", STORE_ADD),
                ("open_damaged", c_void_p)]


class Context(Structure):
    """struct hm_context"""
    _fields_ = [("files", c_void_p), ("store", POINTER(StoreAccess)), ("catalog", c_void_p), ("limits", Limits),
                ("style", Style), ("write", c_void_p), ("write_data", c_void_p), ("progress", c_void_p),
                ("progress_data", c_void_p), ("cancelled", c_void_p), ("cancelled_data", c_void_p)]


class ReplyFile(Structure):
    """struct hm_reply_file"""
    _fields_ = [("path", c_char_p), ("text", c_char_p), ("program", c_char_p)]


class ReplyStruct(Structure):
    """struct hm_reply"""
    _fields_ = [("answered", c_bool), ("type", c_char_p), ("text", c_void_p), ("length", c_size_t),
                ("from_store", c_bool), ("files", POINTER(ReplyFile)), ("file_count", c_size_t),
                ("memory", c_void_p)]


class StoredSample(Structure):
    """struct hm_stored_sample"""
    _fields_ = [(name, c_double) for name in ("iteration", "seconds", "elapsed_s", "loss")]


STORED_TEXTS = ("key", "made_at", "status", "algorithm", "problem", "data", "job", "machine", "scheme", "host", "version")
STORED_NUMBERS = ("n", "batch", "latency", "bandwidth", "size", "seconds", "total", "iterations", "loss", "best", "cost",
                  "seed")


class Stored(Structure):
    """struct hm_stored"""
    _fields_ = [("id", c_int64), *[(name, c_char_p) for name in STORED_TEXTS],
                *[(name, c_double) for name in STORED_NUMBERS], ("more", c_char_p),
                ("samples", POINTER(StoredSample)), ("sample_count", c_size_t)]


class File(NamedTuple):
    """A file that a request asks for; `program` is gnuplot if the text is a script that makes it."""
    path: str
    text: str
    program: Optional[str]


class Reply(NamedTuple):
    """The reply to a request."""
    answered: bool
    text: str
    files: List[File]


FUNCTIONS: List[Tuple[str, Any, List[Any]]] = [
    ("hm_version", c_char_p, []),
    ("hm_version_hex", c_int, []),
    ("hm_local_files", c_void_p, []),
    ("hm_request_new", c_int, [c_char_p, POINTER(c_void_p), POINTER(Err)]),
    ("hm_request_free", None, [c_void_p]),
    ("hm_request_set", c_int, [c_void_p, c_char_p, c_char_p, POINTER(Err)]),
    ("hm_request_set_document", c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_size_t, POINTER(Err)]),
    ("hm_request_read", c_int, [c_void_p, c_char_p, c_size_t, c_char_p, POINTER(Err)]),
    ("hm_request_run", c_int, [c_void_p, POINTER(Context), POINTER(POINTER(ReplyStruct)), POINTER(Err)]),
    ("hm_reply_free", None, [c_void_p]),
    ("hm_catalog_new", c_int, [POINTER(c_void_p), POINTER(Err)]),
    ("hm_catalog_add", c_int, [c_void_p, c_char_p, c_size_t, c_char_p, POINTER(Err)]),
    ("hm_catalog_free", None, [c_void_p]),
    ("hm_store_open", c_int, [c_char_p, POINTER(c_void_p), POINTER(Err)]),
    ("hm_store_close", None, [c_void_p]),
    ("hm_store_add", c_int, [c_void_p, POINTER(Stored), c_size_t, POINTER(c_int64), POINTER(c_size_t), POINTER(Err)]),
    ("hm_store_add_batches", c_int, [c_void_p, c_void_p, c_size_t, POINTER(Err)]),
]


def find_library() -> str:
    """The library that HOWMANY_LIBRARY names, else the one inside the package, else the installed one."""
    named = os.environ.get("HOWMANY_LIBRARY")
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libhowmany.so")
    return named or (inside if os.path.exists(inside) else ctypes.util.find_library("howmany") or "libhowmany.so")


def load_library(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    for name, result, arguments in FUNCTIONS:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = load_library(find_library())
version: str = lib.hm_version().decode()
FILES = lib.hm_local_files()


def check(code: int, err: Err) -> None:
    """Raise the error of a call that failed."""
    if code:
        raise err.exception()


def utf8(text: str, field: str = "") -> bytes:
    """A text of known length for the library."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        part = text[max(error.start - 20, 0):error.end + 20]
        raise Error(f"{part!r} is not valid Unicode", code="syntax", field=field) from error


def c_text(text: str, field: str = "") -> bytes:
    """A text for the library. C ends a text at its first NUL character, so a text that contains one is refused."""
    if "\0" in text:
        raise Error(f"{text!r} contains a NUL character", code="syntax", field=field)
    return utf8(text, field)


# ---- the person's own catalog and store, found as the command line finds them ---------------------


def data_folder() -> Optional[str]:
    for name, rest in (("XDG_DATA_HOME", "howmany"), ("HOME", ".local/share/howmany")):
        base = os.environ.get(name, "")
        if base.startswith("/"):
            return os.path.join(base, rest)
    return None


def default_store() -> str:
    """The address of the store that is used when none is named."""
    named = os.environ.get("HOWMANY_DB")
    if named:
        return named
    folder = data_folder()
    if not folder:
        raise Error("there is no home folder for the store of runs", code="missing", field="record",
                    hint="give record or set HOWMANY_DB")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, "howmany.db")


_catalog_lock = threading.Lock()
_catalog: Optional[int] = None


def add_own_files(made: c_void_p) -> None:
    """Add the person's own files to a catalog."""
    err = Err()
    folder = os.path.join(data_folder() or "", "catalog")
    names = sorted(os.listdir(folder)) if data_folder() and os.path.isdir(folder) else []
    for name in names:
        if name.endswith(".yaml") and not name.startswith("."):
            path = os.path.join(folder, name)
            with open(path, "rb") as stream:
                text = stream.read()
            check(lib.hm_catalog_add(made, text, len(text), c_text(path), byref(err)), err)


def catalog() -> int:
    """The built-in catalog with the person's own files; it is read once and shared by all threads."""
    global _catalog
    with _catalog_lock:
        if _catalog is None:
            made, err = c_void_p(), Err()
            check(lib.hm_catalog_new(byref(made), byref(err)), err)
            try:
                add_own_files(made)
            except BaseException:
                lib.hm_catalog_free(made)
                raise
            _catalog = made.value
        return _catalog or 0


_callbacks = threading.local()  #: .interrupt: the KeyboardInterrupt of a callback of this thread


def _report(err: Any, error: BaseException) -> int:
    """Report an exception of a callback to the library. One that leaves a callback is lost, and the call succeeds."""
    if not isinstance(error, Exception):
        _callbacks.interrupt = error
    if err:
        err.contents.code, err.contents.message = -2, str(error).encode("utf-8", "replace")[:383]
    return -2


def _store_open(_data: Any, where: Optional[bytes], ret_store: Any, err: Any) -> int:
    try:
        return int(lib.hm_store_open(c_text(default_store(), "record") if where is None else where, ret_store, err))
    except BaseException as error:
        lib.hm_store_close(ret_store[0])
        ret_store[0] = None
        return _report(err, error)


def _store_add(data: Any, where: Optional[bytes], batch: Any, err: Any) -> int:
    store = c_void_p()
    try:
        code = _store_open(data, where, ctypes.pointer(store), err)
        return code or int(lib.hm_store_add_batches(store, batch, 1, err))
    except BaseException as error:
        return _report(err, error)
    finally:
        lib.hm_store_close(store)


#: The library itself closes a store: Ctrl-C during a long request is noticed at the start of the next function of Python,
#: and an exception there is lost.
STORES = StoreAccess(None, STORE_OPEN(_store_open), STORE_CLOSE(), STORE_ADD(_store_add))


# ---- requests -------------------------------------------------------------------------------------


def run(verb: str, texts: Sequence[Tuple[str, str]], contents: Sequence[Tuple[str, Union[str, bytes]]],
        body: Optional[str]) -> Reply:
    """Run one request: fields as on the command line, contents of documents, and a JSON object of other fields."""
    request, err = c_void_p(), Err()
    answer = POINTER(ReplyStruct)()
    context = Context(files=FILES, store=ctypes.pointer(STORES), catalog=catalog(),
                      style=Style(unicode=True, width=100))
    check(lib.hm_request_new(verb.encode(), byref(request), byref(err)), err)
    try:
        for field, text in texts:
            check(lib.hm_request_set(request, field.encode(), c_text(text, field), byref(err)), err)
        for field, content in contents:
            raw = content if isinstance(content, bytes) else utf8(content, field)
            check(lib.hm_request_set_document(request, field.encode(), field.encode(), raw, len(raw), byref(err)), err)
        if body is not None:
            raw = utf8(body)
            check(lib.hm_request_read(request, raw, len(raw), VALUES.encode(), byref(err)), err)
        check(lib.hm_request_run(request, byref(context), byref(answer), byref(err)), err)
        reply = answer.contents
        files = [File(f.path.decode(), f.text.decode(), f.program.decode() if f.program else None)
                 for f in reply.files[:reply.file_count]] if reply.file_count else []
        return Reply(reply.answered, ctypes.string_at(reply.text, reply.length).decode() if reply.length else "", files)
    except Error as error:
        interrupt, _callbacks.interrupt = getattr(_callbacks, "interrupt", None), None
        if interrupt:
            raise interrupt from None
        # The exception of a signal at the very start of a callback is lost, and its result is not defined.
        if error.message in ("", "the store of runs was not opened"):
            raise Error("the request was interrupted by a signal", code="cancelled") from None
        raise
    finally:
        if answer:
            lib.hm_reply_free(answer)
        lib.hm_request_free(request)
