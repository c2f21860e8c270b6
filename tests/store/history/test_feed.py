"""The change feed: its changes, applied in order, give the current rows; repetitions are no changes."""

import json
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpora.aliases import alias_histories
from tests.events import RUNS, T0, columns, dataset, facet, job_event, record_lists, records_of, run_event, schema
from tests.store.reading import reader_of
from tests.store.tables import copy_to, execute
from tests.store.writing import NAMES, apply, empty_store, opened, settle

from lineage_bridge.errors import CollisionError, GoneError, RequestError
from lineage_bridge.graph.flows.derive import OF_RUNS
from lineage_bridge.graph.identity.steps import PREFERRED
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import OffsetRange, StoredRecord
from lineage_bridge.graph.relations import NEVER_US
from lineage_bridge.model.differences import ChangeAction, ChangePage, ChangeRecord
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.store.write.changes import COLUMNS, FED

MINUTE = 60_000_000
WITHOUT = {"current_facet": f"WHERE job <> {OF_RUNS}"}
"""Rows that are no part of the graph: facets of runs, kept for search."""


def page(writer: GraphWriter, after: str | None = None, limit: int = 10_000, kinds: tuple[str, ...] = ()) -> ChangePage:
    return reader_of(writer).history.changes(after, kinds, limit)


def changes_after(writer: GraphWriter, after: str | None = None) -> list[tuple[str, str]]:
    return [(change.kind, change.action.name.lower()) for change in page(writer, after).changes]


def now(writer: GraphWriter) -> str:
    return page(writer, "now").following


def present(writer: GraphWriter) -> dict[str, set[tuple[object, ...]]]:
    """The current rows of the tables in the feed, with the columns that it has."""
    rows: dict[str, set[tuple[object, ...]]] = {
        fed.kind: set(execute(writer, f'SELECT {", ".join(fed.columns.values())} FROM "{table}" {WITHOUT.get(table, "")}'))
        for table, fed in FED.items()
        if table != "alias"
    }
    statements = execute(writer, "SELECT * FROM alias").fetchall()
    states = {json.dumps(row[:8], separators=(",", ":")): alias_state(*row[6:7], *row[9:]) for row in statements}
    return {**rows, "alias": {(text, state) for text, state in states.items() if state}}


def alias_state(kind: str, stated_at: int, stated_event: bytes, vetoed: int | None, vetoed_at: int, vetoed_event: bytes) -> bytes:
    """A chosen name counts if it was chosen after it was withdrawn; an alias does not after a veto, whatever the order."""
    if vetoed and not (kind == PREFERRED and (stated_at, stated_event) > (vetoed_at, vetoed_event)):
        return b"vetoed"
    return b"stated" if stated_at != NEVER_US else b""


def replayed(writer: GraphWriter) -> dict[str, set[tuple[object, ...]]]:
    """What the feed amounts to. An addition must be new, a removal known."""
    rows: dict[str, dict[tuple[object, ...], tuple[object, ...]]] = {fed.kind: {} for fed in FED.values()}
    kinds = {fed.kind: fed for fed in FED.values()}
    for kind, turn, *values in execute(writer, f"SELECT kind, action, {', '.join(COLUMNS)} FROM change ORDER BY seq"):
        fed, all_values = kinds[kind], dict(zip(COLUMNS, values, strict=True))
        row = tuple(all_values[column] for column in fed.columns)
        key = tuple(all_values[column] for column in fed.columns if column not in fed.valued)
        assert (key in rows[kind]) == (turn != ChangeAction.ADDED), (kind, turn)
        if turn == ChangeAction.REMOVED:
            assert rows[kind].pop(key) == row
        else:
            assert rows[kind].get(key) != row
            rows[kind][key] = row
    return {kind: set(some.values()) for kind, some in rows.items()}


@settings(max_examples=60, deadline=None)
@given(st.one_of(record_lists(min_size=8), alias_histories()), st.data())
def test_the_changes_amount_to_the_current_rows(records: list[StoredRecord], data: st.DataObject) -> None:
    with opened() as writer:
        left = data.draw(st.permutations(records))
        while left:
            size = data.draw(st.integers(1, 6))
            apply(writer, left[:size], budget=data.draw(st.sampled_from([1, 10_000])))
            left = left[size:]
            assert replayed(writer) == present(writer)
        settle(writer)
        assert replayed(writer) == present(writer)


def test_heartbeats_and_repeats_are_no_changes() -> None:
    heartbeat: dict[str, Any] = {
        "inputs": [dataset("a", schema=schema("id"))],
        "outputs": [dataset("b")],
        "job_facets": {"documentation": facet(description="d")},
    }
    with opened() as writer:
        apply(writer, records_of([run_event("START", **heartbeat)]))
        cursor = now(writer)
        for minute in range(1, 4):
            apply(writer, records_of([run_event("RUNNING", time_us=T0 + minute * MINUTE, **heartbeat)]))
        apply(writer, records_of([run_event("RUNNING", time_us=T0 + DAY_US, **heartbeat)]))
        apply(writer, records_of([run_event("COMPLETE", RUNS[1], time_us=T0 + DAY_US, **heartbeat)]))
        assert changes_after(writer, cursor) == []


def test_each_kind_of_change_names_its_nodes() -> None:
    with opened() as writer:
        apply(writer, records_of([run_event(inputs=[dataset("a", schema=schema("id"))], outputs=[dataset("b")])]))
        found = page(writer).changes
        assert {change.kind for change in found if change.action == ChangeAction.ADDED} == {"node", "port", "flow", "facet"}
        (flow,) = (change for change in found if change.kind == "flow")
        assert flow.other is not None
        assert flow.job is not None
        assert [node.name for node in (flow.node, flow.other, flow.job)] == ["a", "b", "job"]
        cursor = now(writer)
        linked = dataset(
            "b",
            symlinks=facet(identifiers=[{"namespace": "file", "name": "b", "type": "TABLE"}]),
            columnLineage=columns(id=[("ns", "a", "id")]),
        )
        apply(writer, records_of([run_event(time_us=T0 + 1, inputs=[dataset("a", schema=schema("id", "x"))], outputs=[linked])]))
        turns = changes_after(writer, cursor)
        for expected in [("facet", "changed"), ("flow", "removed"), ("flow", "added"), ("columns", "added"), ("identity", "added")]:
            assert expected in turns, expected


def test_a_declaration_that_is_replaced_takes_its_flow_along() -> None:
    with opened() as writer:
        apply(writer, records_of([job_event(inputs=[dataset("a")], outputs=[dataset("b")])]))
        cursor = now(writer)
        apply(writer, records_of([job_event(time_us=T0 + 1, inputs=[dataset("c")], outputs=[dataset("b")])]))
        found = {(change.kind, change.action.name, change.node.name) for change in page(writer, cursor).changes}
        assert {
            ("flow", "REMOVED", "a"),
            ("flow", "ADDED", "c"),
            ("port", "REMOVED", "a"),
            ("port", "ADDED", "c"),
            ("node", "ADDED", "c"),
        } <= found


def test_pages_follow_each_other_and_kinds_are_chosen() -> None:
    with opened() as writer:
        apply(writer, records_of([run_event(inputs=[dataset(f"a{n}") for n in range(5)], outputs=[dataset("b")])]))
        whole = page(writer)
        assert not whole.more
        pieces: list[ChangeRecord] = []
        cursor: str | None = None
        for _ in count():
            piece = page(writer, cursor, limit=3)
            pieces += piece.changes
            cursor = piece.following
            if not piece.more:
                break
        assert tuple(pieces) == whole.changes
        assert cursor == whole.following == now(writer)
        assert {change.kind for change in page(writer, kinds=("flow",)).changes} == {"flow"}
        assert page(writer, kinds=("flow",)).following == whole.following


def test_a_cursor_behind_what_is_kept_is_gone() -> None:
    with opened() as writer:
        writer.changes.kept = 5
        cursor = now(writer)
        apply(writer, records_of([run_event(inputs=[dataset(f"a{n}") for n in range(9)])]))
        assert len(page(writer).changes) == 5
        with pytest.raises(GoneError) as gone:
            page(writer, cursor)
        assert "after=now" in gone.value.hint
        assert page(writer, page(writer).oldest).changes == page(writer).changes


def test_a_cursor_outlives_a_restart_but_not_an_older_copy_nor_another_store(tmp_path: Path) -> None:
    file = tmp_path / "graph.db"
    file.write_bytes(empty_store())
    with closing(GraphWriter(file, NAMES)) as writer:
        apply(writer, records_of([run_event(inputs=[dataset("a")])]))
        early = now(writer)
        copy_to(writer, tmp_path / "older.db")
        apply(writer, records_of([run_event(time_us=T0 + 1, outputs=[dataset("b")])]))
        late = now(writer)
        with closing(GraphWriter(file, NAMES)) as again:
            assert {change.node.name for change in page(again, early, kinds=("node",)).changes} == {"b"}
            assert changes_after(again, late) == []
            apply(again, records_of([run_event(time_us=T0 + 2, outputs=[dataset("c")])]))
            assert changes_after(again, late)
        with closing(GraphWriter(tmp_path / "older.db", NAMES)) as restored:
            with pytest.raises(GoneError):
                page(restored, late)
            apply(restored, records_of([run_event(time_us=T0 + 3, outputs=[dataset(f"d{n}") for n in range(9)])]))
            assert changes_after(restored, early)
            with pytest.raises(GoneError):
                page(restored, late)
        with opened() as other, pytest.raises(GoneError):
            page(other, early)
        with pytest.raises(RequestError):
            page(writer, "no cursor")


def test_a_batch_that_is_not_committed_adds_no_changes() -> None:
    with opened() as writer:
        apply(writer, records_of([run_event(inputs=[dataset("a")])]))
        cursor, taken = now(writer), NAMES.dataset("ns", "a")
        with pytest.raises(CollisionError):
            writer.apply(Batch({("log", 0): OffsetRange(1, 2)}, {"node": [(taken, 1, "ns", "impostor", T0)]}), Budget(1))
        apply(writer, records_of([run_event(time_us=T0 + 1, inputs=[dataset("a")])]))
        assert changes_after(writer, cursor) == []
