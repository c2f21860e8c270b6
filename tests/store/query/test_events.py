"""Events and facets, from the store."""

from pathlib import Path
from typing import Any

import pytest
from tests.events import KEY, T0, dataset, dataset_event, facet, job_event, run_event, schema, stored_record
from tests.store.reading import found, listening_reader_of, reader_of
from tests.store.tables import execute
from tests.store.writing import add, apply

from lineage_bridge.errors import StoreDamagedError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.model.events import EventFilter
from lineage_bridge.store.dialect import Sqlite
from lineage_bridge.store.runs import mentions
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)


def test_events_are_listed_by_time_and_job(writer: GraphWriter) -> None:
    add(writer, *(run_event(run=f"r{number}", job=f"j{number % 3}", time_us=T0 + number) for number in range(9)))
    r = reader_of(writer)
    assert [event.time - T0 for event in r.events.page(EventFilter())] == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert [event.time - T0 for event in r.events.page(EventFilter(job="j[01]", ascending=True, limit=3, offset=1))] == [1, 3, 4]
    assert [event.time - T0 for event in r.events.page(EventFilter(since=T0 + 2, until=T0 + 5))] == [4, 3, 2]
    assert r.events.page(EventFilter(namespace="nowhere*")) == []
    (only,) = r.events.of_run("r4")
    assert only.time == T0 + 4


def test_events_that_named_a_dataset_are_the_first_and_last_of_each_run_and_day(writer: GraphWriter) -> None:
    orders, other = [dataset("orders")], [dataset("other")]
    add(
        writer,
        *(run_event(run="r1", type_="RUNNING", time_us=T0 + number, inputs=orders) for number in range(4)),
        run_event(run="r1", type_="RUNNING", time_us=T0 + 9, inputs=other),
        run_event(run="r2", job="j2", time_us=T0 + 20, outputs=[dataset("orders", schema=schema("id"))]),
        dataset_event(dataset("orders"), time_us=T0 + 30),
        job_event(job="j3", time_us=T0 + 40, outputs=orders),
        job_event(job="j3", time_us=T0 + 41, outputs=other),
        run_event(run="r1", type_="RUNNING", time_us=T0 + DAY_US, inputs=orders),
    )
    r = reader_of(writer)
    only = frozenset({found(r, "orders").id})

    def times(**more: Any) -> list[int]:
        return [event.time - T0 for event in r.events.page(EventFilter(datasets=only, **more))]

    assert times() == [DAY_US, 40, 30, 20, 3, 0]
    assert times(ascending=True, limit=2, offset=1) == [3, 20]
    assert times(job="j[23]") == [40, 20]
    assert times(since=T0 + 3, until=T0 + 40) == [30, 20, 3]
    assert r.events.page(EventFilter(datasets=frozenset({1}))) == []


def test_the_newest_runs_that_named_a_dataset_are_listed_whichever_job_they_are_of(
    writer: GraphWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mentions, "MOST_RUNS", 3)
    times = {"busy": range(10, 14), "old": range(4), "new": [12, 20], "mixed": [9, 15]}
    orders = [dataset("orders")]
    runs = [(job, time) for job, seconds in times.items() for time in seconds]
    add(writer, *(run_event(run=f"{job} {time}", job=job, time_us=T0 + time, inputs=orders) for job, time in runs))
    r = reader_of(writer)
    listed = r.events.page(EventFilter(datasets=frozenset({found(r, "orders").id})))
    assert [event.time - T0 for event in listed] == [20, 15, 13]


def test_an_event_whose_clock_was_far_ahead_is_found_by_the_dataset_that_it_named(writer: GraphWriter) -> None:
    ahead = run_event(time_us=T0 + 400 * DAY_US, inputs=[dataset("orders")])
    apply(writer, [stored_record(ahead, arrival=T0)])
    r = reader_of(writer)
    (event,) = r.events.page(EventFilter(datasets=frozenset({found(r, "orders").id})))
    assert event.time == T0 + 400 * DAY_US


def test_current_facets_leave_out_deleted_ones(writer: GraphWriter) -> None:
    add(writer, run_event(job_facets={"documentation": facet(description="x"), "sql": facet(query="select 1")}))
    r = reader_of(writer)
    assert set(r.nodes.facets(found(r, "job", NodeKind.JOB))) == {"documentation", "sql"}
    add(writer, run_event(time_us=T0 + 1, job_facets={"sql": facet(_deleted=True)}))
    assert set(reader_of(writer).nodes.facets(found(r, "job", NodeKind.JOB))) == {"documentation"}


def test_the_quarantine_is_paged_newest_first_and_searched_by_code_and_event(writer: GraphWriter) -> None:
    bodies = [b"%d is no JSON" % number for number in range(7)]
    apply(writer, [stored_record(body, offset=number, kind=RecordKind.REJECTED) for number, body in enumerate(bodies)])
    add(writer, b"refused again" + b" " * 9)
    events = reader_of(writer).events
    pages = [[record.address.offset for record in events.quarantine("rejected", 3, offset)] for offset in (0, 3, 6)]
    assert pages == [[6, 5, 4], [3, 2, 1], [0]]
    (record,) = events.quarantine(None, 10, 0, events.quarantine("rejected", 1, 4)[0].event)
    assert (record.address.offset, record.sample) == (2, "2 is no JSON")
    assert events.quarantine("no_time", 10, 0) == events.quarantine("rejected", 10, 0, b"x" * 16) == []


def test_one_event_in_quarantine_is_found_by_its_key(tmp_path: Path) -> None:
    writer = GraphWriter(tmp_path / "graph.db", NAMES)
    reader, statements = listening_reader_of(writer)
    reader.events.quarantine(None, 1, 0, b"x" * 16)
    plan = writer.connection.execute(f"EXPLAIN QUERY PLAN {statements[-1]}", {"event": b"x" * 16, "limit": 1, "offset": 0})
    steps = [row[3] for row in plan.fetchall()]
    writer.close()
    assert any("SEARCH q USING PRIMARY KEY" in step for step in steps)
    assert not any("SCAN q" in step for step in steps)


def test_an_event_without_an_address_is_damage_and_the_hint_is_for_its_database(writer: GraphWriter) -> None:
    add(writer, run_event(run="r1"))
    execute(writer, "DELETE FROM event_record")
    with pytest.raises(StoreDamagedError) as error:
        reader_of(writer).events.of_run("r1")
    in_file = isinstance(writer.connection.dialect, Sqlite)
    assert ("a running pipeline computes" in error.value.hint, error.value.hint.endswith("lineage-bridge replay")) == (in_file, True)
