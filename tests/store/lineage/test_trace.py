"""Impact, paths and column traces over the store."""

from typing import Any

from hypothesis import given, settings
from tests.events import RUNS, T0, columns, dataset, dataset_event, facet, job_event, run_event
from tests.store.reading import listening_reader_of, node, read_as_of, reader_of
from tests.store.walks import moments, nodes, plain
from tests.store.writing import NAMES, add, apply, opened, settle

from lineage_bridge.graph.ids import DAY_US, event_id
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.lineage import Trace, TraceOptions
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

FAR = T0 + 10_000 * DAY_US


@settings(deadline=None, max_examples=30)
@given(plain, moments)
def test_answers_as_of_a_time_are_those_of_the_events_by_then(records: list[StoredRecord], at_us: int) -> None:
    with opened() as writer:
        apply(writer, records)
        settle(writer)
        with read_as_of(writer, NAMES, at_us) as then:
            reader = reader_of(writer)
            for direction in ("upstream", "downstream"):
                options = TraceOptions("", direction, indirect=True, proofs=False)
                for origin in nodes(then):
                    past, oracle = (r.lineage.trace(origin, options, WalkLimits(), at) for r, at in ((reader, at_us), (then, None)))
                    assert (past.flows, past.columns, past.coverage) == (oracle.flows, oracle.columns, oracle.coverage)
                    impact, expected = (
                        r.lineage.impact([origin], direction, 9, WalkLimits(), at) for r, at in ((reader, at_us), (then, None))
                    )
                    assert impact.affected == expected.affected


@settings(deadline=None, max_examples=30)
@given(plain)
def test_a_trace_long_after_all_events_is_that_of_now(records: list[StoredRecord]) -> None:
    with opened() as writer:
        apply(writer, records)
        settle(writer)
        reader = reader_of(writer)
        for origin in nodes(reader):
            for field in ("", "id"):
                options = TraceOptions(field, "downstream", indirect=True, proofs=False)
                past, now = (reader.lineage.trace(origin, options, WalkLimits(), at) for at in (FAR, None))
                assert (past.flows, past.columns) == (now.flows, now.columns)


# traces


def column_flows(trace: Trace) -> set[tuple[str, str, str, str]]:
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
    assert column_flows(traced(reader, "c", "contact")) == hops
    assert column_flows(traced(reader, "a", "email", "downstream")) == hops
    assert column_flows(traced(reader, "c", "contact", depth=1)) == {("b", "mail", "c", "contact")}
    assert column_flows(traced(reader, "c", "other")) == set()
    assert {(c.node.name, c.field, c.distance) for c in traced(reader, "c", "contact").columns} == {
        ("c", "contact", 0),
        ("b", "mail", 1),
        ("a", "email", 2),
    }


def test_statements_of_lineage_facets_are_looked_up_only_if_there_are_any(writer: GraphWriter) -> None:
    add(writer, *CHAIN)
    reader, statements = listening_reader_of(writer)
    hops = column_flows(traced(reader, "c", "contact"))
    assert len(hops) == 2
    assert not any("s.target = w.node" in sql for sql in statements)
    fields = {"home": {"inputs": [{"type": "DATASET", "namespace": "ns", "name": "c", "field": "contact"}]}}
    entries = facet(entries=[{"type": "DATASET", "namespace": "ns", "name": "d", "fields": fields}])
    add(writer, run_event(run=RUNS[3], job="j3", inputs=[dataset("c")], outputs=[dataset("d")], job_facets={"lineage": entries}))
    reader, statements = listening_reader_of(writer)
    assert column_flows(traced(reader, "d", "home")) == {*hops, ("c", "contact", "d", "home")}
    assert any("s.target = w.node" in sql for sql in statements)


def test_all_columns_of_a_dataset_are_traced_without_a_field(writer: GraphWriter) -> None:
    target = dataset("b", columnLineage=columns(x=[("ns", "a", "x")], y=[("ns", "a", "y")]))
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[target]))
    assert column_flows(traced(reader, "b", "")) == {("a", "x", "b", "x"), ("a", "y", "b", "y")}
    assert column_flows(traced(reader, "a", "", "downstream")) == {("a", "x", "b", "x"), ("a", "y", "b", "y")}


def test_a_trace_stops_at_masking_unless_asked_to_go_on(writer: GraphWriter) -> None:
    masked = dataset("b", columnLineage=lineage(hash=[source("a", "email", masking=True)]))
    after = dataset("c", columnLineage=lineage(hash=[source("b", "hash")]))
    reader = add(
        writer,
        run_event(run="1", job="j1", inputs=[dataset("a")], outputs=[masked]),
        run_event(run="2", job="j2", inputs=[dataset("b")], outputs=[after]),
    )
    stopped = traced(reader, "a", "email", "downstream")
    assert column_flows(stopped) == {("a", "email", "b", "hash")}
    assert [(c.node.name, c.field, c.end) for c in stopped.columns if c.distance is None] == [("b", "hash", "masked")]
    assert len(column_flows(traced(reader, "a", "email", "downstream", through_masking=True))) == 2


def test_a_column_that_goes_on_unmasked_too_is_followed(writer: GraphWriter) -> None:
    both = dataset("b", columnLineage=lineage(mail=[source("a", "email", masking=True), source("a", "email")]))
    after = dataset("c", columnLineage=lineage(mail=[source("b", "mail")]))
    reader = add(
        writer,
        run_event(run="1", job="j1", inputs=[dataset("a")], outputs=[both]),
        run_event(run="2", job="j2", inputs=[dataset("b")], outputs=[after]),
    )
    assert len(column_flows(traced(reader, "a", "email", "downstream"))) == 2


def test_indirect_flows_are_traced_when_asked(writer: GraphWriter) -> None:
    target = dataset("b", columnLineage=lineage(total=[source("a", "amount"), source("a", "country", "INDIRECT")]))
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[target]))
    assert column_flows(traced(reader, "b", "total")) == {("a", "amount", "b", "total")}
    assert column_flows(traced(reader, "b", "total", indirect=True)) == {("a", "amount", "b", "total"), ("a", "country", "b", "total")}


def test_what_decides_over_a_whole_dataset_is_indirect(writer: GraphWriter) -> None:
    filtered = {**lineage(total=[source("a", "amount")]), "dataset": [source("a", "country", "INDIRECT")]}
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=filtered)]))
    assert column_flows(traced(reader, "a", "country", "downstream")) == set()
    assert column_flows(traced(reader, "a", "country", "downstream", indirect=True)) == {("a", "country", "b", "")}
    assert ("a", "country", "b", "") in column_flows(traced(reader, "b", "total", indirect=True))


def test_flows_without_columns_are_gaps(writer: GraphWriter) -> None:
    reader = add(writer, *CHAIN, run_event(run="3", job="copy", inputs=[dataset("x")], outputs=[dataset("b")]))
    coverage = traced(reader, "c", "contact").coverage
    assert (coverage.with_columns, coverage.without_columns) == (2, 1)
    assert [(g.source.name, g.job.name, g.target.name) for g in coverage.gaps] == [("x", "copy", "b")]


def test_a_flow_names_the_newest_event_behind_it(writer: GraphWriter) -> None:
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


def test_a_proof_as_of_a_time_is_the_latest_event_by_then(writer: GraphWriter) -> None:
    def load(time_us: int, run: str = RUNS[0]) -> bytes:
        out = dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))
        return run_event("RUNNING", run=run, time_us=time_us, inputs=[dataset("a")], outputs=[out])

    bodies = [load(T0), load(T0 + 5), load(T0 + 9), load(T0 + DAY_US, RUNS[1]), load(T0 + DAY_US + 7, RUNS[1])]
    reader = add(writer, *bodies)

    def proof(at_us: int) -> tuple[bytes, int]:
        found = reader.lineage.trace(node(reader, "b"), TraceOptions("mail", "upstream"), WalkLimits(), at_us).flows[0].proof
        assert found is not None
        return found.event, found.time - T0

    assert proof(T0 + 7) == (event_id(bodies[0]), 0), "of this day the first and the last are known, and the last came later"
    assert proof(T0 + 9) == (event_id(bodies[2]), 9)
    assert proof(T0 + DAY_US - 1) == (event_id(bodies[2]), 9)
    assert proof(T0 + DAY_US) == (event_id(bodies[3]), DAY_US)
    assert proof(T0 + 2 * DAY_US) == (event_id(bodies[4]), DAY_US + 7)


def test_a_proof_as_of_a_time_may_be_a_declaration(writer: GraphWriter) -> None:
    out = dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))
    bodies = [job_event(time_us=T0 + day * DAY_US, inputs=[dataset("a")], outputs=[out]) for day in range(3)]
    reader = add(writer, *bodies)
    (flow,) = reader.lineage.trace(node(reader, "b"), TraceOptions("mail", "upstream"), WalkLimits(), T0 + DAY_US).flows
    assert flow.proof is not None
    assert flow.proof.event == event_id(bodies[1])


def test_a_proof_as_of_a_time_is_an_event_of_whoever_states_the_flow(writer: GraphWriter) -> None:
    out = dataset("b", columnLineage=columns(mail=[("ns", "a", "email")]))
    bodies = [run_event(inputs=[dataset("a")], outputs=[out]), dataset_event(out, time_us=T0 + 2 * DAY_US)]
    reader = add(writer, *bodies)
    for at_us in (None, T0 + 3 * DAY_US):
        trace = reader.lineage.trace(node(reader, "b"), TraceOptions("mail", "upstream"), WalkLimits(), at_us)
        proofs = {flow.job.name: flow.proof.event for flow in trace.flows if flow.proof}
        assert proofs == {"job": event_id(bodies[0]), "b": event_id(bodies[1])}


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
    assert column_flows(traced(reader, "b", "mail")) == set()


def test_a_column_of_a_generator_ends_at_its_job(writer: GraphWriter) -> None:
    entries = facet(entries=[{"type": "DATASET", "namespace": "ns", "name": "b", "fields": {"id": {"inputs": [{"type": "JOB"}]}}}])
    reader = add(writer, run_event(outputs=[dataset("b")], job_facets={"lineage": entries}))
    found = traced(reader, "b", "id")
    assert column_flows(found) == {("job", "", "b", "id")}
    assert [(c.node.name, c.end) for c in found.columns if c.distance is None] == [("job", "job")]


def test_a_trace_says_when_it_stopped_early(writer: GraphWriter) -> None:
    wide = columns(**{f"c{n}": [("ns", "a", "id")] for n in range(50)})
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=wide)]))
    found = reader.lineage.trace(node(reader, "a"), TraceOptions("id", "downstream"), WalkLimits(edges=10))
    assert (found.truncated, len(found.flows), found.hidden) == ("edges", 10, 40)
