"""Values that the functions accept, and their translation to fields of a request.

A text without a line break is a file name where a document is expected, as on the command line; a text
with a line break is the contents. Dicts and lists are passed on as they are, and a table (a DataFrame, a
list of dicts, or a dict of columns) becomes rows.
"""
from __future__ import annotations

import difflib
import json
import math
import os
from datetime import timedelta
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence, Tuple, Union

#: A number in SI units, a text with a unit, such as "20 ms", or a timedelta.
Quantity = Union[int, float, str, timedelta]
#: A file name, contents (a text with a line break), a dict, rows, a dict of columns, a DataFrame or a Store.
Document = Any
#: One or several documents; "NAME=FILE" and {"algorithm": NAME, "document": …} name an algorithm.
Documents = Any
#: Machines of the catalog and cluster files, such as "p3.2xlarge,p4d.24xlarge", or clusters as dicts.
Machines = Union[str, Mapping[str, Any], Sequence[Union[str, Mapping[str, Any]]]]
#: One or several names.
Choices = Union[str, Sequence[str]]
Texts = Union[str, Sequence[str]]
#: Formulas, such as "1,size/n,ln(n)".
Terms = Union[str, Sequence[str]]
#: Values by name, such as {"batch": 256}, or texts "batch=256".
Pairs = Union[str, Sequence[str], Mapping[str, Any]]
#: Numbers, such as 8, [1, 2, 4] or "1..8".
Numbers = Union[Quantity, Sequence[Quantity]]
#: A number of workers, or {"n": 64, "size": 1}.
Place = Union[Quantity, Mapping[str, Quantity]]
#: A factor, or a document that contains it.
Factor = Any


def parameters(function: Callable[..., Any]) -> List[str]:
    """The names of the parameters of a function."""
    code = getattr(function, "__wrapped__", function).__code__
    return list(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])


def suggestion(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: the name that was probably meant."""
    near = difflib.get_close_matches(name.lower(), list(names), 1)
    return f"; did you mean {near[0]}?" if near else ""


def is_frame(value: Any) -> bool:
    """Whether a value is a DataFrame; pandas itself need not be there."""
    return hasattr(value, "to_csv") and hasattr(value, "columns")


def is_series(value: Any) -> bool:
    """Whether a value is a Series of pandas."""
    return hasattr(value, "to_csv") and hasattr(value, "to_frame") and hasattr(value, "index")


def with_index(frame: Any) -> Any:
    """A DataFrame with its index among its columns, if the index has a name, such as after groupby("n")."""
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise TypeError("the columns of the table have several levels; give each column one name")
    names = [name for name in frame.index.names if name is not None]
    return frame.reset_index() if names and not set(names) & set(frame.columns) else frame


def csv_of(table: Any) -> str:
    """A DataFrame or a Series as CSV; times (timedelta) become seconds."""
    frame = with_index(table if is_frame(table) else table.to_frame())
    times = {name: frame[name].dt.total_seconds() for name, kind in frame.dtypes.items()
             if getattr(kind, "kind", "") == "m"} if frame.columns.is_unique else {}
    return str((frame.assign(**times) if times else frame).to_csv(index=False))


def plain(value: Any) -> Any:
    """Translate what the json module does not know: paths, times, and numbers and arrays of numpy."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, timedelta):
        return f"{value.total_seconds()!r} s"
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a number, a text, a dict, a list or a table")


def columns_to_rows(table: Mapping[str, Any]) -> List[Dict[str, Any]]:
    names = list(table)
    lists = [list(plain(v) if hasattr(v, "tolist") else v) for v in table.values()]
    if len({len(items) for items in lists}) > 1:
        raise TypeError("the columns of a table differ in length: "
                        + ", ".join(f"{name} {len(items)}" for name, items in zip(names, lists)))
    return [dict(zip(names, row)) for row in zip(*lists)]


def is_columns(value: Any) -> bool:
    """Whether a dict holds the columns of a table: every value is a list or an array."""
    return isinstance(value, Mapping) and bool(value) and all(
        isinstance(v, (list, tuple)) or hasattr(v, "tolist") and getattr(v, "ndim", 0) == 1 for v in value.values())


def known(row: Mapping[str, Any]) -> Dict[str, Any]:
    """A row without values that are not known (None, NaN)."""
    return {k: v for k, v in row.items() if v is not None and not (isinstance(v, float) and math.isnan(v))}


class Fields:
    """The fields of a request: texts as on the command line, contents of documents, and trees."""

    def __init__(self, kinds: Mapping[str, str], arguments: Mapping[str, Any]) -> None:
        self.texts: List[Tuple[str, str]] = []
        self.contents: List[Tuple[str, Union[str, bytes]]] = []
        self.trees: Dict[str, Any] = {}
        for field, value in arguments.items():
            if value is not None and value is not False:
                self.add(field, kinds.get(field, ""), value)

    def add(self, field: str, kind: str, value: Any) -> None:
        if hasattr(value, "__howmany_store__"):
            self.texts.append((field, value.__howmany_store__()))
        elif kind in ("machines", "factor") and isinstance(value, (Mapping, list, tuple)):
            self.trees[field] = value
        elif kind == "document" or kind == "documents" and (is_rows(value) or not isinstance(value, (list, tuple))):
            self.add_document(field, value)
        elif kind == "documents":
            for item in value:
                self.add_document(field, item, several=True)
        elif kind == "pairs" and isinstance(value, Mapping):
            self.texts.extend((field, f"{name}={text_of(item)}") for name, item in value.items())
        elif kind == "pairs" and isinstance(value, (list, tuple)):
            self.texts.extend((field, text_of(item)) for item in value)
        else:
            self.texts.append((field, text_of(value)))

    def add_document(self, field: str, value: Any, several: bool = False) -> None:
        if isinstance(value, bytes):
            self.contents.append((field, value))
        elif is_frame(value) or is_series(value):
            self.contents.append((field, csv_of(value)))
        elif isinstance(value, str) and "\n" in value:
            self.contents.append((field, value))
        elif isinstance(value, (str, os.PathLike)):
            self.texts.append((field, os.fspath(value)))
        else:
            if field != "job" and is_columns(value):
                value = columns_to_rows(value)
            if isinstance(value, (list, tuple)):
                value = [known(row) if isinstance(row, Mapping) else row for row in value]
            if several:
                self.trees.setdefault(field, []).append(value)
            else:
                self.trees[field] = value


def text_of(value: Any) -> str:
    """A value as the command line writes it: lists with commas, and pairs as NAME=VALUE."""
    if isinstance(value, str):
        return value
    if value is True:
        return "true"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Mapping):
        return ",".join(f"{name}={text_of(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple, range)):
        return ",".join(text_of(item) for item in value)
    return text_of(plain(value))


def is_rows(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(
        isinstance(item, Mapping) and "document" not in item for item in value)


def encode(trees: Mapping[str, Any]) -> str:
    """The trees as a JSON object. Each row of a list has a line of its own, so that the line of an error is the row."""
    def text(value: Any) -> str:
        return json.dumps(value, default=plain, ensure_ascii=False)

    def tree(value: Any) -> str:
        return "[" + ",\n".join(text(item) for item in value) + "]" if isinstance(value, list) else text(value)

    return "{" + ", ".join(f"{text(name)}: {tree(value)}" for name, value in trees.items()) + "}"
