"""Impact, paths and column traces over the store."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import KEY, RUNS, T0, columns, dataset, facet, job_event, record_lists, records_of, run_event
from tests.store.reading import reader_of
from tests.store.test_apply import NAMES, apply, opened, settle
from tests.store.test_past import _moments, nodes, plain

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US, NodeKind, event_id
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.lineage import Impact, Trace, TraceOptions
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter


def add(writer: GraphWriter, *bodies: bytes) -> StoreReader:
    records = records_of(list(bodies), arrival=T0 + 400 * DAY_US)
    writer.apply(Batch({}, dict(flat(fold_records(records, Names(KEY))))), Budget(10**6))
    return reader_of(writer)


def moves(*pairs: tuple[str, str, str], **facets: Any) -> list[bytes]:
    """One run for each (input, job, output)."""
    return [run_event(run=f"{a} {job} {b}", job=job, inputs=[dataset(a)], outputs=[dataset(b, **facets)]) for a, job, b in pairs]


def node(reader: StoreReader, name: str, kind: NodeKind = NodeKind.DATASET) -> Node:
    found = reader.nodes.find(kind, "ns" if kind == NodeKind.DATASET else "jobs", name)
    assert found is not None
    return found


def affected(impact: Impact) -> dict[str, tuple[int, int | None, bool]]:
    return {a.node.name: (a.distance, a.paths, a.wholly) for a in impact.affected}


DIAMOND = moves(("a", "j1", "b"), ("a", "j2", "c"), ("b", "j3", "d"), ("c", "j4", "d"), ("other", "j5", "c"), ("d", "j6", "e"))


def test_impact_tells_distance_paths_and_whether_all_or_some_is_affected(writer: GraphWriter) -> None:
    reader = add(writer, *DIAMOND)
    assert affected(reader.lineage.impact(node(reader, "a"), "downstream", 50, WalkLimits())) == {
        "b": (1, 1, True),
        "c": (1, 1, False),
        "d": (2, 2, False),
        "e": (3, 2, False),
        "j1": (1, None, True),
        "j2": (1, None, True),
        "j3": (2, None, True),
        "j4": (2, None, False),
        "j6": (3, None, False),
    }


def test_impact_upstream_is_what_a_node_depends_on(writer: GraphWriter) -> None:
    reader = add(writer, *DIAMOND)
    found = affected(reader.lineage.impact(node(reader, "d"), "upstream", 50, WalkLimits()))
    assert {name: found[name] for name in ("a", "b", "c", "other")} == {
        "a": (2, 2, True),
        "b": (1, 1, True),
        "c": (1, 1, True),
        "other": (2, 1, True),
    }


def test_impact_of_a_job_begins_at_what_it_writes_and_met_again_is_not_affected_by_itself(writer: GraphWriter) -> None:
    reader = add(writer, *moves(("a", "j", "b"), ("b", "k", "a")))
    assert affected(reader.lineage.impact(node(reader, "j", NodeKind.JOB), "downstream", 50, WalkLimits())) == {
        "b": (1, 1, True),
        "a": (2, 1, True),
        "k": (2, None, True),
    }


def test_a_job_that_only_reads_is_affected(writer: GraphWriter) -> None:
    reader = add(writer, run_event(job="dashboard", inputs=[dataset("a")]))
    assert affected(reader.lineage.impact(node(reader, "a"), "downstream", 50, WalkLimits())) == {"dashboard": (1, None, True)}


def test_impact_counts_the_names_of_one_dataset_once(writer: GraphWriter) -> None:
    linked = dataset("path", namespace="s3://lake", symlinks=facet(identifiers=[{"namespace": "hive://h:1", "name": "t", "type": "TABLE"}]))
    reader = add(
        writer,
        run_event(run=RUNS[0], job="w", inputs=[dataset("a")], outputs=[linked]),
        run_event(run=RUNS[1], job="r", inputs=[dataset("t", namespace="hive://h:1")], outputs=[dataset("z")]),
    )
    assert affected(reader.lineage.impact(node(reader, "a"), "downstream", 50, WalkLimits())) == {
        "t": (1, 1, True),
        "z": (2, 1, True),
        "w": (1, None, True),
        "r": (2, None, True),
    }


def test_impact_says_when_it_stopped_early(writer: GraphWriter) -> None:
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[dataset(f"o{n}") for n in range(20)]))
    found = reader.lineage.impact(node(reader, "a"), "downstream", 5, WalkLimits(nodes=10))
    assert found.truncated == "nodes"
    assert found.hidden > 0


FAR = T0 + 10_000 * DAY_US


@settings(deadline=None, max_examples=30)
@given(record_lists(min_size=4, max_size=12, erasing=False), st.sampled_from(["a", "b", "c"]))
def test_impact_lists_what_the_walk_meets(records: list[StoredRecord], name: str) -> None:
    with opened() as writer:
        apply(writer, records)
        settle(writer)
        reader = reader_of(writer)
        origin = reader.nodes.find(NodeKind.DATASET, "ns", name)
        for direction in ("upstream", "downstream") if origin else ():
            assert origin is not None
            walk = reader.lineage.walk(origin, direction, 50, WalkLimits(), now_us=T0)
            impact = reader.lineage.impact(origin, direction, 50, WalkLimits())
            own = {member.id for member in walk.members}
            met = {walk.canonical.get(id_, id_): hops for id_, hops in walk.distances.items() if id_ not in own}
            assert {a.node.id: a.distance for a in impact.affected if a.paths is not None} == met


@settings(deadline=None, max_examples=30)
@given(plain, _moments)
def test_answers_as_of_a_time_are_those_of_what_had_been_said(records: list[StoredRecord], at_us: int) -> None:
    with opened() as writer:
        apply(writer, records)
        settle(writer)
        with reader_of(writer).whole.refolded(NAMES, at_us, frozenset()) as again:
            reader, then = reader_of(writer), again
            for direction in ("upstream", "downstream"):
                options = TraceOptions("", direction, indirect=True, proofs=False)
                for origin in nodes(then):
                    past, oracle = (r.lineage.trace(origin, options, WalkLimits(), at) for r, at in ((reader, at_us), (then, None)))
                    assert (past.flows, past.columns, past.coverage) == (oracle.flows, oracle.columns, oracle.coverage)
                    reached, expected = (
                        r.lineage.impact(origin, direction, 9, WalkLimits(), at) for r, at in ((reader, at_us), (then, None))
                    )
                    assert reached.affected == expected.affected


@settings(deadline=None, max_examples=30)
@given(plain)
def test_a_trace_long_after_all_was_said_is_that_of_now(records: list[StoredRecord]) -> None:
    with opened() as writer:
        apply(writer, records)
        settle(writer)
        reader = reader_of(writer)
        for origin in nodes(reader):
            for field in ("", "id"):
                options = TraceOptions(field, "downstream", indirect=True, proofs=False)
                past, now = (reader.lineage.trace(origin, options, WalkLimits(), at) for at in (FAR, None))
                assert (past.flows, past.columns) == (now.flows, now.columns)


# paths


def ways(reader: StoreReader, source: str, target: str, most: int = 20, depth: int = 20) -> tuple[list[tuple[str, ...]], bool]:
    found = reader.lineage.paths(node(reader, source), node(reader, target), depth, most, WalkLimits())
    return [tuple(n.name for n in path.nodes) for path in found.paths], found.more


def test_paths_are_all_ways_the_shortest_first(writer: GraphWriter) -> None:
    reader = add(writer, *DIAMOND, *moves(("a", "short", "d")))
    assert sorted(ways(reader, "a", "e")[0][1:]) == [("a", "b", "d", "e"), ("a", "c", "d", "e")]
    assert ways(reader, "a", "e")[0][0] == ("a", "d", "e")
    assert ways(reader, "a", "e", most=1) == ([("a", "d", "e")], True)
    assert ways(reader, "a", "e", depth=2) == ([("a", "d", "e")], False)
    assert ways(reader, "e", "a") == ([], False)
    assert ways(reader, "a", "other") == ([], False)


def test_a_path_names_every_job_of_each_hop(writer: GraphWriter) -> None:
    reader = add(writer, *moves(("a", "j", "b"), ("a", "k", "b")))
    (path,) = reader.lineage.paths(node(reader, "a"), node(reader, "b"), 5, 5, WalkLimits()).paths
    assert [[job.name for job in jobs] for jobs in path.jobs] == [["j", "k"]]


# traces


def told(trace: Trace) -> set[tuple[str, str, str, str]]:
    return {(f.source.name, f.source_field, f.target.name, f.target_field) for f in trace.flows}


def traced(reader: StoreReader, name: str, field: str, direction: str = "upstream", **options: Any) -> Trace:
    return reader.lineage.trace(node(reader, name), TraceOptions(field, direction, **options), WalkLimits())


def lineage(**fields: list[dict[str, Any]]) -> dict[str, Any]:
    return facet(fields={name: {"inputFields": sources} for name, sources in fields.items()})


def source(name: str, field: str, type_: str = "DIRECT", masking: bool = False) -> dict[str, Any]:
    return {
        "namespace": "ns",
        "name": name,
        "field": field,
        "transformations": [{"type": type_, "subtype": "IDENTITY", "masking": masking}],
    }


CHAIN = [
    run_event(run="1", job="j1", inputs=[dataset("a")], outputs=[dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))]),
    run_event(run="2", job="j2", inputs=[dataset("b")], outputs=[dataset("c", columnLineage=columns(contact=[("ns", "b", "mail")]))]),
]


def test_a_column_is_traced_both_ways(writer: GraphWriter) -> None:
    reader = add(writer, *CHAIN)
    hops = {("a", "email", "b", "mail"), ("b", "mail", "c", "contact")}
    assert told(traced(reader, "c", "contact")) == hops
    assert told(traced(reader, "a", "email", "downstream")) == hops
    assert told(traced(reader, "c", "contact", depth=1)) == {("b", "mail", "c", "contact")}
    assert told(traced(reader, "c", "other")) == set()
    assert {(c.node.name, c.field, c.distance) for c in traced(reader, "c", "contact").columns} == {
        ("c", "contact", 0),
        ("b", "mail", 1),
        ("a", "email", 2),
    }


def test_all_columns_of_a_dataset_are_traced_without_a_field(writer: GraphWriter) -> None:
    target = dataset("b", columnLineage=columns(x=[("ns", "a", "x")], y=[("ns", "a", "y")]))
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[target]))
    assert told(traced(reader, "b", "")) == {("a", "x", "b", "x"), ("a", "y", "b", "y")}
    assert told(traced(reader, "a", "", "downstream")) == {("a", "x", "b", "x"), ("a", "y", "b", "y")}


def test_a_trace_stops_at_masking_unless_told(writer: GraphWriter) -> None:
    masked = dataset("b", columnLineage=lineage(hash=[source("a", "email", masking=True)]))
    after = dataset("c", columnLineage=lineage(hash=[source("b", "hash")]))
    reader = add(
        writer,
        run_event(run="1", job="j1", inputs=[dataset("a")], outputs=[masked]),
        run_event(run="2", job="j2", inputs=[dataset("b")], outputs=[after]),
    )
    stopped = traced(reader, "a", "email", "downstream")
    assert told(stopped) == {("a", "email", "b", "hash")}
    assert [(c.node.name, c.field, c.end) for c in stopped.columns if c.distance is None] == [("b", "hash", "masked")]
    assert len(told(traced(reader, "a", "email", "downstream", through_masking=True))) == 2


def test_a_column_that_goes_on_unmasked_too_is_followed(writer: GraphWriter) -> None:
    both = dataset("b", columnLineage=lineage(mail=[source("a", "email", masking=True), source("a", "email")]))
    after = dataset("c", columnLineage=lineage(mail=[source("b", "mail")]))
    reader = add(
        writer,
        run_event(run="1", job="j1", inputs=[dataset("a")], outputs=[both]),
        run_event(run="2", job="j2", inputs=[dataset("b")], outputs=[after]),
    )
    assert len(told(traced(reader, "a", "email", "downstream"))) == 2


def test_indirect_flows_are_traced_when_asked(writer: GraphWriter) -> None:
    target = dataset("b", columnLineage=lineage(total=[source("a", "amount"), source("a", "country", "INDIRECT")]))
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[target]))
    assert told(traced(reader, "b", "total")) == {("a", "amount", "b", "total")}
    assert told(traced(reader, "b", "total", indirect=True)) == {("a", "amount", "b", "total"), ("a", "country", "b", "total")}


def test_what_decides_over_a_whole_dataset_is_indirect(writer: GraphWriter) -> None:
    filtered = {**lineage(total=[source("a", "amount")]), "dataset": [source("a", "country", "INDIRECT")]}
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=filtered)]))
    assert told(traced(reader, "a", "country", "downstream")) == set()
    assert told(traced(reader, "a", "country", "downstream", indirect=True)) == {("a", "country", "b", "")}
    assert ("a", "country", "b", "") in told(traced(reader, "b", "total", indirect=True))


def test_flows_without_columns_are_gaps(writer: GraphWriter) -> None:
    reader = add(writer, *CHAIN, run_event(run="3", job="copy", inputs=[dataset("x")], outputs=[dataset("b")]))
    coverage = traced(reader, "c", "contact").coverage
    assert (coverage.with_columns, coverage.without_columns) == (2, 1)
    assert [(g.source.name, g.job.name, g.target.name) for g in coverage.gaps] == [("x", "copy", "b")]


def test_a_flow_names_the_event_that_said_it_last(writer: GraphWriter) -> None:
    again = run_event(
        run="later",
        job="j1",
        time_us=T0 + 5,
        inputs=[dataset("a")],
        outputs=[dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))],
    )
    reader = add(writer, *CHAIN, again)
    (proof,) = {f.proof for f in traced(reader, "b", "mail").flows}
    assert proof is not None
    assert (proof.event, proof.time) == (event_id(again), T0 + 5)
    assert traced(reader, "b", "mail", proofs=False).flows[0].proof is None


def test_a_declared_flow_names_its_event_too(writer: GraphWriter) -> None:
    body = job_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))])
    reader = add(writer, body)
    (flow,) = traced(reader, "b", "mail").flows
    assert flow.proof is not None
    assert flow.proof.event == event_id(body)


def test_a_statement_that_explicit_lineage_overrules_is_not_followed(writer: GraphWriter) -> None:
    entries = facet(
        entries=[{"type": "DATASET", "namespace": "ns", "name": "b", "inputs": [{"type": "DATASET", "namespace": "ns", "name": "z"}]}]
    )
    target = dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[target], job_facets={"lineage": entries}))
    assert told(traced(reader, "b", "mail")) == set()


def test_a_column_of_a_generator_ends_at_its_job(writer: GraphWriter) -> None:
    entries = facet(entries=[{"type": "DATASET", "namespace": "ns", "name": "b", "fields": {"id": {"inputs": [{"type": "JOB"}]}}}])
    reader = add(writer, run_event(outputs=[dataset("b")], job_facets={"lineage": entries}))
    found = traced(reader, "b", "id")
    assert told(found) == {("job", "", "b", "id")}
    assert [(c.node.name, c.end) for c in found.columns if c.distance is None] == [("job", "job")]


def test_a_trace_says_when_it_stopped_early(writer: GraphWriter) -> None:
    wide = columns(**{f"c{n}": [("ns", "a", "id")] for n in range(50)})
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=wide)]))
    found = reader.lineage.trace(node(reader, "a"), TraceOptions("id", "downstream"), WalkLimits(edges=10))
    assert (found.truncated, len(found.flows), found.hidden) == ("edges", 10, 40)
