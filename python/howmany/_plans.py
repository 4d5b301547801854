"""Many plans of one job: one for each row of a table."""
from __future__ import annotations

import json
import math
from typing import Any, Dict, Iterable, List, Mapping, Optional

from ._request import Request, unknown_argument
from ._values import Document, is_columns, is_frame, columns_to_rows, parameters, with_index
from ._verbs import VERBS, Plan, plan

#: Parameters of plan; every other column is a key of the job.
PARAMETERS = set(parameters(plan))


def table_rows(table: Any) -> Iterable[Mapping[str, Any]]:
    if is_frame(table):
        table = with_index(table)
        return columns_to_rows({name: table[name].tolist() for name in table.columns})
    return columns_to_rows(table) if is_columns(table) else list(table)


class Plans(List[Plan]):
    """The plans of the rows of a table, in their order."""

    def __init__(self, rows: List[Dict[str, Any]], plans: List[Plan]) -> None:
        super().__init__(plans)
        self.rows = rows

    def to_dicts(self) -> List[Dict[str, Any]]:
        """Each row with the members of its best point, the status, and what limits the speedup."""
        table = []
        for row, answer in zip(self.rows, self):
            data = json.loads(answer.json)  # not answer.to_dict(), which would keep all members of each answer
            best = {f"best_{name}" if name in row else name: value for name, value in (data["best"] or {}).items()}
            table.append({**row, "status": data["status"], **best, "limited_by": data["limit"]["kind"]})
        return table

    def to_frame(self) -> Any:
        """A pandas DataFrame of to_dicts()."""
        import pandas

        return pandas.DataFrame(self.to_dicts())


def plans(table: Any, job: Optional[Document] = None, **common: Any) -> Plans:
    """Plan a job once for each row of a table.

    Args:
        table: a DataFrame, a list of dicts or a dict of columns. A column with the name of an argument of
            plan (deadline, max_n, on, job, …) sets this argument; every other column sets a key of the job,
            such as batch or cluster.fabric.bandwidth. A value that is not known (None, NaN) sets nothing.
        job: the job of rows that have no column job
        common: arguments of plan that are the same for all rows
    """
    rows: List[Dict[str, Any]] = []
    answers: List[Plan] = []
    verb = VERBS["plan"]
    shared = common.pop("set", None) or {}
    for name in common:
        if name not in PARAMETERS:
            raise unknown_argument("plans", name, parameters(plan))
    for row in table_rows(table):
        known = {k: v for k, v in row.items() if v is not None and not (isinstance(v, float) and math.isnan(v))}
        keys = {k: v for k, v in known.items() if k not in PARAMETERS}
        given = {k: v for k, v in known.items() if k in PARAMETERS}
        request = Request(verb, {"job": job, **common, **given, "set": {**shared, **keys} or None})
        reply = request.run(("json", "true"))
        rows.append(dict(row))
        answers.append(Plan._of_reply(reply.text, reply.answered, request))
    return Plans(rows, answers)
