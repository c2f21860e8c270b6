"""Looks up column statements as edges: from which columns a column is derived, and which are derived from it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from lineage_bridge.graph.statements.lineage_sets import NO_SOURCE, OWN
from lineage_bridge.store.chunks import batches
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.identity.row_kinds import RowKinds
from lineage_bridge.store.query.flows import Direction, Flows

_COLUMNS = "j.job, j.carrier, j.origin, s.lineage_set, s.target, s.target_field, s.source, s.source_field, s.type, s.subtype, s.masking"
_FIELDS = " AND s.{}_field IN (w.field, '')"
_WANTED = f"""WITH named (node, field) AS (VALUES {{}}), wanted AS (SELECT DISTINCT node, field FROM named)
SELECT w.node, w.field, {_COLUMNS} FROM wanted w """
_ABOUT_CARRIER = f"""{_WANTED} STRAIGHT_JOIN job_lineage_set j INDEXED BY job_lineage_set_by_carrier ON j.carrier = w.node
STRAIGHT_JOIN column_statement s ON s.lineage_set = j.lineage_set AND s.target = 0"""
_ABOUT_TARGET = f"""{_WANTED} STRAIGHT_JOIN column_statement s INDEXED BY column_statement_by_target ON s.target = w.node
STRAIGHT_JOIN job_lineage_set j INDEXED BY job_lineage_set_by_lineage_set ON j.lineage_set = s.lineage_set"""
_FROM_SOURCE = f"""{_WANTED} STRAIGHT_JOIN column_statement s INDEXED BY column_statement_by_source ON s.source = w.node
STRAIGHT_JOIN job_lineage_set j INDEXED BY job_lineage_set_by_lineage_set ON j.lineage_set = s.lineage_set"""
_FROM_CARRIER = f"""{_WANTED} STRAIGHT_JOIN job_lineage_set j INDEXED BY job_lineage_set_by_carrier ON j.carrier = w.node
STRAIGHT_JOIN column_statement s ON s.lineage_set = j.lineage_set AND s.source = 0 AND s.type <> '-'"""


class ColumnStep(NamedTuple):
    """A column statement of a job: `target_field` of `target` is derived from `source_field` of `source`. An empty field means the
    whole dataset.

    `carrier` and `lineage_set` are where it was asserted. Types are empty where the producer gave none.
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
    lineage_set: bytes


Column = tuple[int, str]
"""A dataset or job by its id, and a field; with an empty field, all of its columns."""


class Columns(Protocol):
    """Looks up column statements at one point in time."""

    def into(self, columns: Collection[Column]) -> dict[Column, list[ColumnStep]]:
        """For each of these columns, the column statements whose target is the column or its whole dataset."""

    def out_of(self, columns: Collection[Column]) -> dict[Column, list[ColumnStep]]:
        """For each of these columns, the column statements whose source is the column or its whole dataset."""


class CurrentColumns:
    """Looks up the current column statements over one connection, for many columns at once."""

    def __init__(self, connection: StoreConnection, kinds: RowKinds) -> None:
        self.connection, self._kinds = connection, kinds

    def into(self, columns: Collection[Column]) -> dict[Column, list[ColumnStep]]:
        """For each of these columns, the column statements whose target is the column or its whole dataset."""
        queries = (_ABOUT_CARRIER, _ABOUT_TARGET) if self._kinds.foreign_targets else (_ABOUT_CARRIER,)
        return self._steps(queries, "target", columns)

    def out_of(self, columns: Collection[Column]) -> dict[Column, list[ColumnStep]]:
        """For each of these columns, the column statements whose source is the column or its whole dataset."""
        return self._steps((_FROM_SOURCE, _FROM_CARRIER), "source", columns)

    def _steps(self, queries: tuple[str, ...], side: str, columns: Collection[Column]) -> dict[Column, list[ColumnStep]]:
        found: dict[Column, list[ColumnStep]] = {column: [] for column in columns}
        whole = [column for column in columns if not column[1]]
        for named, narrowed in ((whole, ""), ([column for column in columns if column[1]], _FIELDS.format(side))):
            for query in queries:
                for some in batches(named):
                    sql = query.format(", ".join(["(?, ?)"] * len(some))) + narrowed
                    for node, field, *row in self.connection.execute(sql, [value for column in some for value in column]):
                        if (step := _step(row)) is not None:
                            found[node, field].append(step)
        return found


def _step(row: Sequence[Any]) -> ColumnStep | None:
    job, carrier, origin, lineage_set, target, target_field, source, source_field, type_, subtype, masking = row
    if type_ == NO_SOURCE:
        return None
    ends = source if source != OWN else job, source_field, target if target != OWN else carrier, target_field
    return ColumnStep(*ends, job, origin, type_, subtype, bool(masking), carrier, lineage_set)


class FlowColumns:
    """Looks up the column statements at any point in time, through the flows of that time."""

    def __init__(self, flows: Flows) -> None:
        self.flows = flows

    def into(self, columns: Collection[Column]) -> dict[Column, list[ColumnStep]]:
        """For each of these columns, the column statements whose target is the column or its whole dataset."""
        return {column: list(self._into(*column)) for column in columns}

    def out_of(self, columns: Collection[Column]) -> dict[Column, list[ColumnStep]]:
        """For each of these columns, the column statements whose source is the column or its whole dataset."""
        return {column: list(self._out_of(*column)) for column in columns}

    def _into(self, node: int, field: str) -> Iterator[ColumnStep]:
        for job in sorted({edge[2] for edge in self.flows.edges([node], Direction.UP)}):
            yield from (
                step
                for step in self._steps(job, {node, job})
                if step.target == node and step.target_field in _matching_fields(field, step[3])
            )

    def _out_of(self, node: int, field: str) -> Iterator[ColumnStep]:
        ends: dict[int, set[int]] = {}
        for _, target, job, *_ in self.flows.edges([node], Direction.DOWN):
            ends.setdefault(job, {job}).add(target)
        for job, carriers in sorted(ends.items()):
            steps = (step for step in self._steps(job, carriers) if step.source == node)
            yield from (step for step in steps if step.source_field in _matching_fields(field, step.source_field))

    def _steps(self, job: int, carriers: Iterable[int]) -> Iterator[ColumnStep]:
        for about in sorted(carriers):
            for row in self.flows.statements(job, about):
                target, target_field, source, source_field, type_, subtype, masking, carrier, origin, lineage_set = row
                if type_ != NO_SOURCE:
                    ends = source if source != OWN else job, source_field, target if target != OWN else carrier, target_field
                    yield ColumnStep(*ends, job, origin, type_, subtype, bool(masking), carrier, lineage_set)


def _matching_fields(field: str, named: str) -> tuple[str, ...]:
    """The fields under which statements about a column are stored: the column itself, and the whole dataset; all fields if no column is
    given.
    """
    return (field, "") if field else (named,)
