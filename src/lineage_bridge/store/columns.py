"""Column statements as edges: which columns a column comes from, and which come from it, one indexed look-up a column."""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from lineage_bridge.graph.statements import NO_SOURCE, OWN

_COLUMNS = "j.job, j.carrier, j.origin, s.meaning, s.target, s.target_field, s.source, s.source_field, s.type, s.subtype, s.masking"
_ABOUT_CARRIER = f"""SELECT {_COLUMNS}
FROM job_statement j INDEXED BY job_statement_by_carrier
CROSS JOIN statement s ON s.meaning = j.meaning AND s.target = 0 WHERE j.carrier = :node"""
_ABOUT_TARGET = f"""SELECT {_COLUMNS}
FROM statement s INDEXED BY statement_by_target
CROSS JOIN job_statement j INDEXED BY job_statement_by_meaning ON j.meaning = s.meaning WHERE s.target = :node"""
_FROM_SOURCE = f"""SELECT {_COLUMNS}
FROM statement s INDEXED BY statement_by_source
CROSS JOIN job_statement j INDEXED BY job_statement_by_meaning ON j.meaning = s.meaning WHERE s.source = :node"""
_FROM_CARRIER = f"""SELECT {_COLUMNS}
FROM job_statement j INDEXED BY job_statement_by_carrier
CROSS JOIN statement s ON s.meaning = j.meaning AND s.source = 0 AND s.type <> '-' WHERE j.carrier = :node"""
_FIELDS = " AND s.{side}_field IN (:field, '')"


class ColumnStep(NamedTuple):
    """One statement of one job: `source_field` of `source` goes into `target_field` of `target`; an empty field is the whole dataset.

    `carrier` and `meaning` tell where it was said. Types are empty where the producer gave none.
    """

    source: int
    source_field: str
    target: int
    target_field: str
    job: int
    origin: int
    type: str
    subtype: str
    masking: bool
    carrier: int
    meaning: bytes


class Columns:
    """Look-ups over one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def into(self, node: int, field: str) -> Iterator[ColumnStep]:
        """What is said to flow into a column of a dataset, or into all of the dataset; with an empty field into any column of it."""
        yield from self._steps((_ABOUT_CARRIER, _ABOUT_TARGET), "target", node, field)

    def out_of(self, node: int, field: str) -> Iterator[ColumnStep]:
        """What a column of a dataset is said to flow into, its whole dataset included; with an empty field any column of it."""
        yield from self._steps((_FROM_SOURCE, _FROM_CARRIER), "source", node, field)

    def _steps(self, queries: tuple[str, ...], side: str, node: int, field: str) -> Iterator[ColumnStep]:
        narrowed = _FIELDS.format(side=side) if field else ""
        for query in queries:
            for row in self.connection.execute(query + narrowed, {"node": node, "field": field}).fetchall():
                job, carrier, origin, meaning, target, target_field, source, source_field, type_, subtype, masking = row
                if type_ != NO_SOURCE:
                    step = ColumnStep(
                        source if source != OWN else job,
                        source_field,
                        target if target != OWN else carrier,
                        target_field,
                        job,
                        origin,
                        type_,
                        subtype,
                        bool(masking),
                        carrier,
                        meaning,
                    )
                    yield step
