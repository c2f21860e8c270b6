"""Events and facets, from the store."""

from tests.events import KEY, T0, facet, run_event
from tests.store.reading import found, reader_of
from tests.store.writing import add

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.events import EventFilter
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


def test_current_facets_leave_out_deleted_ones(writer: GraphWriter) -> None:
    add(writer, run_event(job_facets={"documentation": facet(description="x"), "sql": facet(query="select 1")}))
    r = reader_of(writer)
    assert set(r.nodes.facets(found(r, "job", NodeKind.JOB))) == {"documentation", "sql"}
    add(writer, run_event(time_us=T0 + 1, job_facets={"sql": facet(_deleted=True)}))
    assert set(reader_of(writer).nodes.facets(found(r, "job", NodeKind.JOB))) == {"documentation"}
