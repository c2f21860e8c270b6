"""Derives the relations as they were at an earlier time, or without some runs, in a separate store.

A row counts if its first mention is not later than that time. If its last mention is later, the first mention is used in its place. So it
is exact at any time whether something had been asserted; which of several facet sets was the last is exact at UTC midnights and now.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.facts.operations import alias_values
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import ALIAS, BY_NAME
from lineage_bridge.graph.statements.lineage_sets import named_nodes
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive.stitching import is_on
from lineage_bridge.store.write.apply import GraphWriter

_SPAN = '"first", CASE WHEN "last" <= :at THEN "last" ELSE "first" END'
_CUT = {
    "run_event": f'SELECT run, job, type, day, {_SPAN} FROM run_event WHERE "first" <= :at',
    "run_io": f'SELECT run, job, dataset, side, day, {_SPAN} FROM run_io WHERE "first" <= :at',
    "io_sample": "SELECT * FROM io_sample WHERE time <= :at",
    "assertion": 'SELECT asserted_by, job, node, side, origin, facet_set, day, "first", first_event, '
    'CASE WHEN "last" <= :at THEN "last" ELSE "first" END, CASE WHEN "last" <= :at THEN last_event ELSE first_event END '
    'FROM assertion WHERE "first" <= :at',
    "lifecycle": 'SELECT asserted_by, job, dataset, change, previous, day, "first", first_event, '
    'CASE WHEN "last" <= :at THEN "last" ELSE "first" END, CASE WHEN "last" <= :at THEN last_event ELSE first_event END '
    'FROM lifecycle WHERE "first" <= :at',
    "job_dependency": f"SELECT run, job, direction, other_job, other_run, dependency, sequence, status, {_SPAN} "
    'FROM job_dependency WHERE "first" <= :at',
    "run": "SELECT run, job, "
    "CASE WHEN parent_time <= :at THEN parent_run END, CASE WHEN parent_time <= :at THEN parent_job END, "
    "CASE WHEN parent_time <= :at THEN root_run END, CASE WHEN parent_time <= :at THEN root_job END, "
    "CASE WHEN parent_time <= :at THEN parent_raw END, CASE WHEN parent_time <= :at THEN root_raw END, "
    "parent_time, parent_sure, parent_event, "
    "nominal_start, nominal_end, nominal_time, nominal_event, raw_id, raw_event FROM run r "
    "WHERE EXISTS (SELECT 1 FROM assertion s WHERE s.asserted_by = r.run AND s.job = r.job AND s.first <= :at)",
    "facet_set": "SELECT * FROM facet_set",
    "ending": "SELECT * FROM ending",
    "declared_io": "SELECT * FROM declared_io",
    "facet": "SELECT * FROM facet",
    "alias_statement": "SELECT * FROM alias_statement WHERE at <= :at",
}
_WITH_ASSERTER = {"run_event", "run_io", "io_sample", "assertion", "run", "lifecycle", "job_dependency"}
_END_OF_TIME = 2**63 - 1


@contextmanager
def folded_again(source: StoreConnection, names: Names, at_us: int | None, without: frozenset[bytes]) -> Iterator[StoreConnection]:
    """A context manager that returns a temporary store with all assertions until `at_us` (None: all), except those of the runs in
    `without`.
    """
    with TemporaryDirectory(prefix="lineage-bridge-") as folder:
        writer = GraphWriter(Path(folder) / "graph.db", names, feed=False, stitch=is_on(source))
        with closing(writer):
            writer.apply(Batch({}, _rows(source, names, _END_OF_TIME if at_us is None else at_us, without)), Budget(2**62))
            yield writer.connection


def _rows(source: StoreConnection, names: Names, at_us: int, without: frozenset[bytes]) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for name, sql in _CUT.items():
        found = source.execute(sql, {"at": at_us} if ":at" in sql else {}).fetchall()
        rows[name] = [row for row in found if row[0] not in without] if name in _WITH_ASSERTER else found
    asserted = {row[5] for row in rows["assertion"]}
    declared = {row[3] for row in rows["declared_io"] if row[0] in asserted}
    rows["facet_set"] = [row for row in rows["facet_set"] if row[0] in asserted or row[0] in declared]
    rows["declared_io"] = [row for row in rows["declared_io"] if row[0] in asserted]
    rows["node"] = _named(source, names, rows)
    rows["alias"] = [_alias(row) for row in rows["alias_statement"]]
    return {name: some for name, some in rows.items() if name in BY_NAME}


def _alias(row: Row) -> Row:
    """The row of `alias` that follows from a row of `alias_statement`."""
    at, event, operation, stated_by = row[ALIAS.key_size :]
    return *row[: ALIAS.key_size], *alias_values(operation, stated_by, (at, event))


def _named(source: StoreConnection, names: Names, rows: dict[str, list[Row]]) -> list[Row]:
    ids = {row[2] for row in rows["run_io"]} | {id_ for row in rows["assertion"] for id_ in row[1:3]}
    ids |= {row[1] for row in rows["run"]} | {row[2] for row in rows["declared_io"]}
    texts = {row[0]: row[2] for row in rows["facet"]}
    parents = {texts[facet] for _, key, facet in rows["facet_set"] if key == "parent"}
    ids |= {node[0] for text in parents for node in named_nodes("parent", text.encode(), names)}
    return [row for row in source.execute("SELECT id, kind, namespace, name, first FROM node") if row[0] in ids]
