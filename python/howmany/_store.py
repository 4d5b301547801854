"""The store of runs as an object."""
from __future__ import annotations

import os
from typing import Any, Iterator, List, Optional, Union

from . import _library, _verbs
from ._request import checked
from ._values import Document, Documents, Numbers, Pairs, Quantity


class Store:
    """Runs and documents in a file (.db) or on a PostgreSQL server.

    Each call opens the store and closes it again, so several threads and processes may use one store. A
    Store can be given wherever runs or traces are expected: `howmany.fit(store)`.

    Args:
        where: a file, or postgresql://…; without it HOWMANY_DB, else the person's own file
    """

    def __init__(self, where: Union[str, "os.PathLike[str]", None] = None) -> None:
        self.where = os.fspath(where) if where is not None else _library.default_store()

    def __howmany_store__(self) -> str:
        return self.where

    def __repr__(self) -> str:
        return f"howmany.Store({self.where!r})"

    @checked
    def page(self, *, where: Optional[Pairs] = None, since: Optional[str] = None, until: Optional[str] = None,
             sort: Optional[str] = None, limit: Optional[Quantity] = None, after: Optional[str] = None) -> _verbs.RunsPage:
        """One page of runs, newest first; `next` of the page is `after` of the following one."""
        return _verbs.runs_list(record=self.where, where=where, since=since, until=until, sort=sort, limit=limit, after=after)

    def runs(self, **filters: Any) -> Iterator[_verbs.Run]:
        """All runs that match, page by page; the arguments are those of page()."""
        after: Optional[str] = None
        while True:
            page = self.page(**{**filters, "after": after})
            yield from page.runs
            after = page.next
            if after is None:
                return

    def __iter__(self) -> Iterator[_verbs.Run]:
        return self.runs()

    def to_frame(self, **filters: Any) -> Any:
        """A pandas DataFrame of all runs that match."""
        import pandas

        return pandas.DataFrame([run.to_dict() for run in self.runs(**filters)])

    def show(self, id: Quantity) -> _verbs.Run:
        """One run with its samples."""
        return _verbs.runs_show(id, record=self.where)

    def add(self, *, key: Optional[str] = None, **values: Quantity) -> int:
        """Add one run: add(n=4, seconds=12.5, machine="m5.large"). Returns its id."""
        added = _verbs.runs_add(dict(values), record=self.where, key=key)
        return int(added.ids[0] or 0)

    def load(self, *tables: Documents, key: Optional[str] = None) -> _verbs.Added:
        """Add tables of runs or traces: files, contents, rows or DataFrames."""
        return _verbs.runs_import(list(tables) if len(tables) != 1 else tables[0], record=self.where, key=key)

    def export(self, *, where: Optional[Pairs] = None, since: Optional[str] = None, until: Optional[str] = None,
               sort: Optional[str] = None, traces: bool = False) -> str:
        """The runs as CSV, or their samples (traces=True)."""
        answer = _verbs.runs_export(record=self.where, where=where, since=since, until=until, sort=sort, traces=traces)
        return answer.to_csv()

    def delete(self, id: Optional[Numbers] = None, *, where: Optional[Pairs] = None, since: Optional[str] = None,
               until: Optional[str] = None, yes: bool = False) -> bool:
        """Delete runs by id, or (yes=True) all that match. Returns whether there were any."""
        return _verbs.runs_delete(id, record=self.where, where=where, since=since, until=until, yes=yes).answered

    def put(self, kind: str, name: str, document: Document) -> None:
        """Keep a text under a kind and a name."""
        _verbs.runs_put(kind, name, document, record=self.where)

    def get(self, kind: str, name: str) -> str:
        """The text of this kind and name."""
        return str(_verbs.runs_get(kind, name, record=self.where))

    def documents(self, kind: Optional[str] = None) -> List[Any]:
        """The stored documents: their kind, name and time."""
        answer = _verbs.runs_documents(kind, record=self.where)
        return list(answer.to_rows())
