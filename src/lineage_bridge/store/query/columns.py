"""Looks up column statements as edges: from which columns a column is derived, and which are derived from it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from lineage_bridge.graph.statements.lineage_sets import NO_SOURCE, OWN
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.flows import Direction, Flows

_COLUMNS = "j.job, j.carrier, j.origin, s.lineage_set, s.target, s.target_field, s.source, s.source_field, s.type, s.subtype, s.masking"
_ABOUT_CARRIER = f"""SELECT {_COLUMNS}
FROM job_lineage_set j INDEXED BY job_lineage_set_by_carrier
STRAIGHT_JOIN column_statement s ON s.lineage_set = j.lineage_set AND s.target = 0 WHERE j.carrier = :node"""
_ABOUT_TARGET = f"""SELECT {_COLUMNS}
FROM column_statement s INDEXED BY column_statement_by_target
STRAIGHT_JOIN job_lineage_set j INDEXED BY job_lineage_set_by_lineage_set ON j.lineage_set = s.lineage_set WHERE s.target = :node"""
_FROM_SOURCE = f"""SELECT {_COLUMNS}
FROM column_statement s INDEXED BY column_statement_by_source
STRAIGHT_JOIN job_lineage_set j INDEXED BY job_lineage_set_by_lineage_set ON j.lineage_set = s.lineage_set WHERE s.source = :node"""
_FROM_CARRIER = f"""SELECT {_COLUMNS}
FROM job_lineage_set j INDEXED BY job_lineage_set_by_carrier
STRAIGHT_JOIN column_statement s ON s.lineage_set = j.lineage_set AND s.source = 0 AND s.type <> '-' WHERE j.carrier = :node"""
_FIELDS = " AND s.{side}_field IN (:field, '')"


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


class Columns(Protocol):
    """Looks up column statements at one point in time."""

    def into(self, node: int, field: str) -> Iterator[ColumnStep]:
        """The statements with a column of a dataset, or with the whole dataset, as target. With an empty field, those with any of
        its columns.
        """

    def out_of(self, node: int, field: str) -> Iterator[ColumnStep]:
        """The statements with a column of a dataset, or with the whole dataset, as source. With an empty field, those with any of
        its columns.
        """


class CurrentColumns:
    """Looks up the column statements of now over one connection, with one indexed look-up for each column."""

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection

    def into(self, node: int, field: str) -> Iterator[ColumnStep]:
        """The statements with a column of a dataset, or with the whole dataset, as target. With an empty field, those with any of
        its columns.
        """
        yield from self._steps((_ABOUT_CARRIER, _ABOUT_TARGET), "target", node, field)

    def out_of(self, node: int, field: str) -> Iterator[ColumnStep]:
        """The statements with a column of a dataset, or with the whole dataset, as source. With an empty field, those with any of
        its columns.
        """
        yield from self._steps((_FROM_SOURCE, _FROM_CARRIER), "source", node, field)

    def _steps(self, queries: tuple[str, ...], side: str, node: int, field: str) -> Iterator[ColumnStep]:
        narrowed = _FIELDS.format(side=side) if field else ""
        for query in queries:
            for row in self.connection.execute(query + narrowed, {"node": node, "field": field}).fetchall():
                job, carrier, origin, lineage_set, target, target_field, source, source_field, type_, subtype, masking = row
                if type_ != NO_SOURCE:
                    ends = source if source != OWN else job, source_field, target if target != OWN else carrier, target_field
                    yield ColumnStep(*ends, job, origin, type_, subtype, bool(masking), carrier, lineage_set)


class FlowColumns:
    """Looks up the column statements at any point in time, through the flows of that time."""

    def __init__(self, flows: Flows) -> None:
        self.flows = flows

    def into(self, node: int, field: str) -> Iterator[ColumnStep]:
        """The statements with a column of a dataset, or with the whole dataset, as target. With an empty field, those with any of
        its columns.
        """
        for job in sorted({edge[2] for edge in self.flows.edges([node], Direction.UP)}):
            yield from (
                step
                for step in self._steps(job, {node, job})
                if step.target == node and step.target_field in _matching_fields(field, step[3])
            )

    def out_of(self, node: int, field: str) -> Iterator[ColumnStep]:
        """The statements with a column of a dataset, or with the whole dataset, as source. With an empty field, those with any of
        its columns.
        """
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
