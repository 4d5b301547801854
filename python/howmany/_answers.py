"""Answers as objects. The classes with their members are generated into _verbs.py."""
from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any, ClassVar, Dict, Iterator, List, Mapping, Optional, Type, TypeVar

from ._values import suggestion

if TYPE_CHECKING:
    from ._request import Request

CLASSES: Dict[str, Type["Record"]] = {}
C = TypeVar("C", bound="Type[Record]")
A = TypeVar("A", bound="Answer")

#: The list of an answer that is its table, by class; other lists are chosen by name.
TABLES = {"Plan": "curve", "Fit": "predictions", "Design": "runs", "Recommend": "candidates", "Converge": "algorithms",
          "Advise": "candidates", "Graph": "splits", "RunsPage": "runs"}
ROWS_SHOWN = 16


def register(cls: C) -> C:
    """Remember a class under its name, so that parts of answers become objects of their class."""
    CLASSES[cls.__name__] = cls
    return cls


class Record:
    """A JSON object whose members are attributes. A member whose name is a keyword has an underscore after it."""

    _parts: ClassVar[Dict[str, str]] = {}

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def _object(self) -> Mapping[str, Any]:
        return self._data

    def _wrap(self, name: str, value: Any) -> Any:
        cls = CLASSES.get(self._parts.get(name, ""), Record)
        if isinstance(value, dict):
            return cls(value)
        if isinstance(value, list):
            return [cls(item) if isinstance(item, dict) else item for item in value]
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        data, member = self._object(), name[:-1] if name.endswith("_") else name
        if member in data:
            return self._wrap(member, data[member])
        if member in type(self).__dict__.get("__annotations__", {}):
            return None  # The answer leaves this member out.
        near = suggestion(member, data) or "; it has " + ", ".join(data)
        raise AttributeError(f"{type(self).__name__} has no member '{member}'{near}")

    def __getitem__(self, name: str) -> Any:
        return self._wrap(name, self._object()[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._object())

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self._object()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._object() == other._object()

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> Dict[str, Any]:
        """The members as a dict of plain values."""
        return dict(self._object())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._object().items())})"


class Answer(Record):
    """The answer to a request.

    json: the answer as JSON, the same bytes as from the command line and the server
    answered: False if no answer is feasible; the text says why
    """

    def __init__(self, data: Optional[Mapping[str, Any]] = None) -> None:
        """An answer that is a part of another one, such as a run of a page, has data and no request."""
        self._parsed = data
        self._reply = ""
        self._shown: Optional[str] = None
        self._request: Optional["Request"] = None
        self.answered = True

    @classmethod
    def _of_reply(cls: Type[A], text: str, answered: bool, request: "Request") -> A:
        answer = cls()
        answer._reply, answer.answered, answer._request = text, answered, request
        return answer

    @property
    def json(self) -> str:
        return self._reply or json.dumps(self._parsed)

    def _object(self) -> Mapping[str, Any]:
        if self._parsed is None:
            parsed = json.loads(self._reply) if self._asked().verb.json else {"text": self._reply}
            self._parsed = parsed if isinstance(parsed, dict) else {"items": parsed}
        return self._parsed

    def _asked(self) -> "Request":
        if self._request is None:
            raise TypeError(f"this {type(self).__name__} is a part of another answer")
        return self._request

    def __str__(self) -> str:
        """The text that the command line prints. The request is run once more to get it."""
        if self._shown is None:
            if self._request is None:
                return super().__repr__()
            self._shown = self._request.run(quiet=True).text if self._request.verb.json else self._reply
        return self._shown

    def to_csv(self) -> str:
        """The table of the answer as the command line prints it with --csv."""
        if not self._asked().verb.csv:
            raise TypeError(f"{self._asked().verb.name} has no CSV; use to_frame()")
        return self._asked().run(("csv", "true"), quiet=True).text

    def chart(self) -> Optional[str]:
        """The picture of the answer as SVG; None if there is none or gnuplot is not installed."""
        return self._asked().chart()

    def to_rows(self, part: Optional[str] = None) -> List[Dict[str, Any]]:
        """The rows of the table of the answer, or of the list with this name."""
        data = self._object()
        name = part or TABLES.get(type(self).__name__, "")
        if name and not isinstance(data.get(name, []), list) or part and part not in data:
            lists_here = [key for key, value in data.items() if isinstance(value, list)]
            raise KeyError(f"{type(self).__name__} has no list '{name}'; it has {', '.join(lists_here)}")
        if name:
            return [row if isinstance(row, dict) else {name: row} for row in data[name] or []]
        lists = [(key, value) for key, value in data.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
        if lists:
            return [{"kind": key, **row} if len(lists) > 1 else row for key, value in lists for row in value]
        return [dict(data)]

    def to_frame(self, part: Optional[str] = None) -> Any:
        """A pandas DataFrame of the table of the answer (the curve of a plan, the predictions of a fit, the
        candidates of advice), or of the list with this name, such as "ranking"."""
        import pandas

        return pandas.DataFrame(self.to_rows(part))

    def __repr__(self) -> str:
        if self._request is None:
            return super().__repr__()
        lines = str(self).strip().splitlines()
        return f"<howmany.{type(self).__name__}: {lines[0] if lines else ''}>"

    def _repr_html_(self) -> str:
        """For notebooks: the first line of the text, a table and the picture."""
        lines = str(self).strip("\n").splitlines()
        chart = self.chart() or ""
        head = html.escape(lines[0]) if lines else ""
        rest = html.escape("\n".join(lines[1:]))
        return (f"<p><strong>{head}</strong></p>" + (f"<pre>{rest}</pre>" if rest else "")
                + table_html(self._shown_rows()) + chart[max(chart.find("<svg"), 0):])

    def _shown_rows(self) -> List[Dict[str, Any]]:
        rows = self.to_rows()
        if len(rows) > ROWS_SHOWN and "n" in rows[0]:  # A long curve is reduced to powers of 2 and the points that the answer names.
            named = {(self._object().get(name) or {}).get("n") for name in ("best", "knee") if name in self._object()}
            rows = [row for row in rows if row["n"] in named or row["n"] > 0 and float(row["n"]).is_integer()
                    and int(row["n"]) & (int(row["n"]) - 1) == 0]
        return rows[:ROWS_SHOWN]


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return html.escape(str(value))


def table_html(rows: List[Dict[str, Any]]) -> str:
    """An HTML table of the columns that have a value and no nested lists."""
    names = [name for name in (rows[0] if rows else {}) if any(row.get(name) is not None for row in rows)
             and not any(isinstance(row.get(name), (dict, list)) for row in rows)]
    if not names:
        return ""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{cell(row.get(name))}</td>" for name in names) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
