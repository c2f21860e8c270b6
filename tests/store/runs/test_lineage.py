"""Which run produced what a run read."""

from functools import partial
from typing import Any

from tests.events import RUNS, T0, dataset, facet, run_event
from tests.store.reading import node, reader_of
from tests.store.writing import add as add_events

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.store.write.apply import GraphWriter

MINUTE = 60_000_000


add = partial(add_events, seed=5)


def links(writer: GraphWriter, run: int, direction: str = "upstream", depth: int = 1, limit: int = 100) -> list[tuple[int, int, str, str]]:
    found = reader_of(writer).runs.lineage(bytes.fromhex(RUNS[run].replace("-", "")), direction, depth, limit)
    return sorted((RUNS.index(link.producer), RUNS.index(link.consumer), link.dataset.name, link.by) for link in found.links)


def wrote(run: int, minute: int, name: str = "d", job: str = "writer", **facets: Any) -> bytes:
    parent = facets.pop("run_facets", None)
    return run_event(run=RUNS[run], job=job, time_us=T0 + minute * MINUTE, outputs=[dataset(name, **facets)], run_facets=parent)


def read(run: int, minute: int, name: str = "d", job: str = "reader", **facets: Any) -> bytes:
    parent = facets.pop("run_facets", None)
    return run_event(run=RUNS[run], job=job, time_us=T0 + minute * MINUTE, inputs=[dataset(name, **facets)], run_facets=parent)


def inside(root: int, job: str = "dag") -> dict[str, Any]:
    return {"parent": facet(run={"runId": RUNS[root]}, job={"namespace": "jobs", "name": job})}


def test_the_latest_writer_before_it_read(writer: GraphWriter) -> None:
    add(writer, wrote(0, 0), wrote(1, 10), wrote(2, 30), read(3, 20))
    assert links(writer, 3) == [(1, 3, "d", "latest")]
    assert links(writer, 1, "downstream") == [(1, 3, "d", "latest")]
    assert links(writer, 0, "downstream") == []
    assert links(writer, 2, "downstream") == []


def test_the_version_it_read_decides(writer: GraphWriter) -> None:
    add(writer, wrote(0, 0, version=facet(datasetVersion="7")), wrote(1, 10, version=facet(datasetVersion="8")))
    add(writer, read(3, 20, version=facet(datasetVersion="7")))
    assert links(writer, 3) == [(0, 3, "d", "version")]
    assert links(writer, 1, "downstream") == []


def test_a_writer_of_the_same_root_stands_before_a_later_one(writer: GraphWriter) -> None:
    add(writer, wrote(0, 0, run_facets=inside(4)), wrote(1, 10), read(3, 20, run_facets=inside(4)))
    assert links(writer, 3) == [(0, 3, "d", "same_root")]


def test_runs_inside_runs_of_two_jobs_with_one_id_are_not_related(writer: GraphWriter) -> None:
    add(writer, wrote(0, 0, run_facets=inside(4, "a")), wrote(1, 10), read(3, 20, run_facets=inside(4, "b")))
    assert links(writer, 3) == [(0, 3, "d", "same_root")], "nothing is known of either name"
    add(writer, run_event(run=RUNS[4], job="a"), run_event(run=RUNS[4], job="b"))
    assert links(writer, 3) == [(1, 3, "d", "latest")]


def test_streams_that_overlap(writer: GraphWriter) -> None:
    add(writer, wrote(0, 0), wrote(0, 60), read(3, 30), read(3, 90))
    assert links(writer, 3) == [(0, 3, "d", "overlap")]
    assert links(writer, 0, "downstream") == [(0, 3, "d", "overlap")]


def test_hop_by_hop(writer: GraphWriter) -> None:
    add(
        writer,
        wrote(0, 0, "a", "first"),
        read(1, 10, "a", "second"),
        wrote(1, 11, "b", "second"),
        read(2, 20, "b", "third"),
    )
    assert links(writer, 2) == [(1, 2, "b", "latest")]
    assert links(writer, 2, depth=2) == [(0, 1, "a", "latest"), (1, 2, "b", "latest")]
    assert links(writer, 0, "downstream", depth=5) == links(writer, 2, depth=5)
    cut = reader_of(writer).runs.lineage(bytes.fromhex(RUNS[2].replace("-", "")), "upstream", 5, 2)
    assert (len(cut.runs), cut.truncated) == (2, True)


def test_what_a_run_waits_for(writer: GraphWriter) -> None:
    waits = facet(upstream=[{"job": {"namespace": "jobs", "name": "before"}, "type": "DIRECT_INVOCATION"}])
    add(writer, run_event(run_facets={"jobDependencies": waits}), run_event(job="other"))
    reader, run = reader_of(writer), bytes.fromhex(RUNS[0].replace("-", ""))
    assert reader.runs.dependencies(run, node(reader, "other", NodeKind.JOB), 10) == []
    (dependency,) = reader.runs.dependencies(run, node(reader, "job", NodeKind.JOB), 10)
    assert (dependency.direction, dependency.job.name, dependency.run_id, dependency.rules) == (
        "upstream",
        "before",
        None,
        ("DIRECT_INVOCATION", "", ""),
    )
