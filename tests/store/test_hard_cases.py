"""The cases that consumers are known to get wrong, each folded in order, backwards, and twice over two channels: the answer is the same."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.events import RUNS, T0, dataset, facet, run_event
from tests.quirks.builders import MINUTE_US, SAMPLES, run_id
from tests.store.reading import reader_of
from tests.store.tables import execute
from tests.store.writing import NAMES, opened

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import DAY_US, NodeKind, event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, StoredRecord
from lineage_bridge.graph.relations import Evidence, Side
from lineage_bridge.model.events import EventFilter
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.history import SchemaHistory, SchemaVersion
from lineage_bridge.model.runs import RunFilter, RunRecord
from lineage_bridge.model.statistics import StatisticsFilter
from lineage_bridge.openlineage.times import format_time, parse_time
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.write.apply import GraphWriter

ORDERS = ("in order", "backwards", "twice")
ARRIVAL = T0 + 400 * DAY_US
NS = "ns"
STREAM = {"jobType": facet(processingType="STREAMING", integration="TEST")}
IN_OUT: dict[str, Any] = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
EDGE = ("a", "job", "b")


class Graph:
    """A store, and what these tests ask of it, by names."""

    def __init__(self, writer: GraphWriter) -> None:
        self.writer, self.reader = writer, reader_of(writer)

    def put(self, records: list[StoredRecord]) -> None:
        self.writer.apply(Batch({}, dict(flat(fold_records(records, NAMES)))), Budget(40))
        while self.writer.settle(Budget(40)):
            pass

    def node(self, name: str, kind: NodeKind = NodeKind.DATASET, namespace: str | None = None) -> Node:
        found = self.reader.nodes.find(kind, namespace or (NS if kind == NodeKind.DATASET else "jobs"), name)
        assert found is not None
        return found

    def walk(self, name: str, direction: str = "downstream", now: int = T0, depth: int = 20) -> dict[tuple[str, str, str], Label]:
        """Edge by names to its label."""
        walk = self.reader.lineage.walk(self.node(name), direction, depth, WalkLimits(), now_us=now)
        return {(edge.source.name, edge.job.name, edge.target.name): edge.label for edge in walk.edges}

    def run(self, id_: str = RUNS[0]) -> RunRecord:
        (record,) = self.reader.runs.find(id_)
        return record

    def lines(self, type_: str, now: int = T0) -> list[dict[str, Any]]:
        return [json.loads(line) for line in reader_of(self.writer).whole.lines(frozenset({type_}), now_us=now)]

    def all_lines(self, now: int = T0) -> list[bytes]:
        return list(reader_of(self.writer).whole.lines(frozenset(), now_us=now))


def stored(body: bytes, offset: int, channel: str) -> StoredRecord:
    return StoredRecord(channel, 0, offset, LogRecord(RecordKind.EVENT, event_id(body), ARRIVAL, channel, "", b"", body))


def arranged(bodies: list[bytes], order: str) -> list[list[StoredRecord]]:
    """The batches in which they arrive: one event each, or, when there are many, some hundreds."""
    records = [stored(body, offset, "http") for offset, body in enumerate(bodies)]
    if order == "backwards":
        records.reverse()
    if order == "twice":
        records = [*records, *(stored(body, offset, "kafka") for offset, body in enumerate(reversed(bodies)))]
    size = 1 if len(records) < 100 else 300
    return [records[start : start + size] for start in range(0, len(records), size)]


Fold = Callable[..., Graph]


@pytest.fixture(params=ORDERS)
def fold(request: pytest.FixtureRequest) -> Iterator[Fold]:
    """Folds events into a graph, in the order the test is about."""
    with opened() as writer:
        graph = Graph(writer)

        def records(*bodies: bytes) -> Graph:
            for batch in arranged(list(bodies), request.param):
                graph.put(batch)
            return graph

        yield records
        assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []


def sample(file: str) -> list[bytes]:
    return (SAMPLES / file).read_bytes().splitlines()


# silence


def test_a_heartbeat_without_datasets_takes_nothing_back(fold: Fold) -> None:
    """Marquez: three nodes become one, and a resend does not restore them."""
    beats = [run_event("RUNNING", time_us=T0 + number * MINUTE_US, inputs=[], outputs=[]) for number in range(1, 4)]
    graph = fold(run_event("START", **IN_OUT, job_facets=STREAM), *beats, run_event("RUNNING", time_us=T0 + 5 * MINUTE_US))
    assert graph.walk("a") == {EDGE: Label.CURRENT}
    assert graph.walk("b", "upstream") == {EDGE: Label.CURRENT}
    ports = graph.reader.lineage.job_ports(graph.node("job", NodeKind.JOB), now_us=T0)
    assert [(port.side, port.dataset.name) for port in ports] == [(Side.INPUT, "a"), (Side.OUTPUT, "b")]


def test_an_empty_abort_ends_the_run_and_takes_nothing_back(fold: Fold) -> None:
    """Marquez excuses an empty COMPLETE or FAIL of a stream, but not an ABORT."""
    graph = fold(
        run_event("START", **IN_OUT, job_facets=STREAM),
        run_event("ABORT", time_us=T0 + MINUTE_US, inputs=[], outputs=[]),
    )
    assert graph.walk("a") == {EDGE: Label.CURRENT}
    assert (graph.run().state, graph.run().ended) == ("ABORT", T0 + MINUTE_US)


def test_a_batch_start_without_datasets_takes_nothing_back(fold: Fold) -> None:
    """Marquez: the nightly START removes the job's edges until it completes."""
    graph = fold(
        run_event("COMPLETE", **IN_OUT),
        run_event("START", RUNS[1], time_us=T0 + DAY_US, inputs=[], outputs=[]),
    )
    assert graph.walk("a") == {EDGE: Label.CURRENT}


def test_thirty_quiet_days_of_a_healthy_stream_keep_its_edge(fold: Fold) -> None:
    """Marquez deletes a run with its first events' age, and a job that is quiet for long."""
    beats = [run_event("RUNNING", time_us=T0 + day * DAY_US) for day in range(1, 31)]
    graph = fold(run_event("START", **IN_OUT, job_facets=STREAM), *beats)
    assert graph.walk("a", now=T0 + 30 * DAY_US) == {EDGE: Label.CURRENT}
    assert graph.run().state == "RUNNING"


def test_thirty_days_without_events_leave_the_edge_where_it_is(fold: Fold) -> None:
    graph = fold(run_event("START", **IN_OUT, job_facets=STREAM))
    assert graph.walk("a", now=T0 + 30 * DAY_US) == {EDGE: Label.CURRENT}
    assert graph.walk("a", now=T0 + 31 * DAY_US) == {EDGE: Label.STALE}
    assert [line["state"] for line in graph.lines("flow", T0 + 300 * DAY_US)] == ["stale"]


def test_alternating_inputs_keep_both_edges(fold: Fold) -> None:
    """Marquez keeps those of the last run."""
    runs = [
        run_event(run=run_id("turn", str(day)), time_us=T0 + day * DAY_US, inputs=[dataset("ab"[day % 2])], outputs=[dataset("z")])
        for day in range(10)
    ]
    graph = fold(*runs)
    assert graph.walk("z", "upstream", T0 + 10 * DAY_US) == {("a", "job", "z"): Label.CURRENT, ("b", "job", "z"): Label.CURRENT}


# many


def test_one_loader_copying_a_thousand_tables_has_a_thousand_flows(fold: Fold) -> None:
    """Decided per job it would be a million."""
    copies = [
        run_event(run=run_id("load", str(number)), job="loader", inputs=[dataset(f"source{number}")], outputs=[dataset(f"copy{number}")])
        for number in range(1000)
    ]
    graph = fold(*copies)
    flows = {(line["source"]["dataset"]["name"], line["target"]["dataset"]["name"]) for line in graph.lines("flow")}
    assert flows == {(f"source{number}", f"copy{number}") for number in range(1000)}
    assert set(graph.walk("source7")) == {("source7", "loader", "copy7")}
    assert graph.reader.lineage.walk(graph.node("loader", NodeKind.JOB), "both", 2, WalkLimits(), now_us=T0).truncated == ""


# events sent once, and again


def test_a_resent_event_changes_nothing_but_the_count_of_its_copies() -> None:
    """Marquez stores its facets once more, and does not restore what a heartbeat has cut."""
    records = dataset("b", schema=facet(fields=[{"name": "id"}]), access=("outputFacets", {"outputStatistics": facet(rowCount=5)}))
    start = run_event("START", inputs=[dataset("a")], outputs=[records], job_facets=STREAM)
    beat = run_event("RUNNING", time_us=T0 + MINUTE_US)
    with opened() as once, opened() as again:
        first, other = Graph(once), Graph(again)
        first.put([stored(start, 1, "http"), stored(beat, 2, "http")])
        for offset, body in enumerate((start, beat, start, start), 1):
            other.put([stored(body, offset, "http" if offset < 4 else "kafka")])
        assert first.all_lines() == other.all_lines()
        assert len(other.reader.events.page(EventFilter())) == 2
        which = StatisticsFilter(T0, T0 + DAY_US, datasets=frozenset({NAMES.dataset(NS, "b")}))
        assert first.reader.runs.statistics(which) == other.reader.runs.statistics(which)
        assert execute(again, "SELECT count(*) FROM event_record").fetchone() == (4,)


def test_an_agent_that_sent_explicit_lineage_once_is_believed_for_that_run(fold: Fold) -> None:
    source, target = {"type": "DATASET", "namespace": NS, "name": "a"}, {"type": "DATASET", "namespace": NS, "name": "b"}
    stated = {"lineage": facet(entries=[{**target, "inputs": [source]}])}
    both: dict[str, Any] = {"inputs": [dataset("a"), dataset("other")], "outputs": [dataset("b")]}
    graph = fold(
        run_event("START", **both, job_facets=stated),
        *(run_event("RUNNING", time_us=T0 + minute * MINUTE_US, **both) for minute in range(1, 4)),
        run_event("COMPLETE", time_us=T0 + 5 * MINUTE_US, **both),
    )
    assert graph.walk("a") == {EDGE: Label.CURRENT}
    assert graph.walk("other") == {("other", "job", "job"): Label.CURRENT}


def test_a_later_run_without_explicit_lineage_adds_its_own_and_takes_nothing_back(fold: Fold) -> None:
    source, target = {"type": "DATASET", "namespace": NS, "name": "a"}, {"type": "DATASET", "namespace": NS, "name": "b"}
    stated = {"lineage": facet(entries=[{**target, "inputs": [source]}])}
    both: dict[str, Any] = {"inputs": [dataset("a"), dataset("other")], "outputs": [dataset("b")]}
    graph = fold(
        run_event(run=RUNS[0], **both, job_facets=stated),
        *(run_event(run=RUNS[number], time_us=T0 + number * DAY_US, **both) for number in range(1, 5)),
    )
    evidence = {(line["source"].get("dataset", line["source"].get("job"))["name"], line["evidence"]) for line in graph.lines("flow")}
    assert evidence == {("a", "explicit"), ("other", "explicit"), ("other", "co-occurrence")}
    assert set(graph.walk("b", "upstream")) == {EDGE, ("other", "job", "b")}
    assert Evidence.EXPLICIT.text == "explicit"


def test_statistics_that_only_a_running_event_has_are_kept(fold: Fold) -> None:
    """The last event has none, and the one before says zero."""

    def wrote(type_: str, minute: int, **counters: int) -> bytes:
        access = ("outputFacets", {"outputStatistics": facet(**counters)}) if counters else None
        return run_event(type_, time_us=T0 + minute * MINUTE_US, inputs=[dataset("a")], outputs=[dataset("b", access=access)])

    graph = fold(wrote("START", 0), wrote("RUNNING", 1, rowCount=500, size=4000), wrote("RUNNING", 2, rowCount=0), wrote("COMPLETE", 3))
    which = StatisticsFilter(T0, T0 + DAY_US, datasets=frozenset({NAMES.dataset(NS, "b")}))
    (series,) = graph.reader.runs.statistics(which).series
    assert (series.amount.rows, series.amount.bytes) == (500, 4000)


# ends


def test_a_late_start_does_not_reopen_a_run(fold: Fold) -> None:
    """Marquez: the last event to arrive decides, so the run is running again."""
    graph = fold(
        run_event("COMPLETE", time_us=T0 + 2 * MINUTE_US, **IN_OUT),
        run_event("START", time_us=T0, inputs=[], outputs=[]),
    )
    run = graph.run()
    assert (run.state, run.started, run.ended, run.started_inferred) == ("COMPLETE", T0, T0 + 2 * MINUTE_US, False)
    assert graph.walk("a") == {EDGE: Label.CURRENT}


def test_a_terminal_event_before_its_start_is_a_whole_run(fold: Fold) -> None:
    parent = {"parent": facet(run={"runId": RUNS[3]}, job={"namespace": "jobs", "name": "above"})}
    graph = fold(run_event("FAIL", time_us=T0 + MINUTE_US, outputs=[dataset("b")], run_facets=parent))
    run = graph.run()
    assert (run.state, run.started, run.started_inferred, run.ended) == ("FAIL", T0 + MINUTE_US, True, T0 + MINUTE_US)
    fold(run_event("START", time_us=T0, inputs=[dataset("a")]))
    run = graph.run()
    assert (run.state, run.started, run.started_inferred, run.ended) == ("FAIL", T0, False, T0 + MINUTE_US)
    assert run.parent_run_id == RUNS[3]
    assert graph.walk("a") == {EDGE: Label.CURRENT}


def test_sparks_complete_behind_a_fail_is_a_failure(fold: Fold) -> None:
    """Recorded: FAIL, and COMPLETE 14 ms later, of one run."""
    graph = fold(*sample("spark/without_delta_4.1.4.ndjson"))
    (failed,) = [line for line in graph.lines("run") if line["job"]["name"].endswith("6_bad")]
    assert failed["state"] == "FAIL"
    run = graph.run(failed["run_id"])
    assert (run.state, run.conflict) == ("FAIL", True)
    assert run.ended is not None


def test_debeziums_running_behind_a_fail_goes_on(fold: Fold) -> None:
    """Recorded: FAIL at each of 25 retries, then RUNNING without a START; the COMPLETE came when the connector was stopped."""
    stopped = "2026-11-20T23:59:24"
    bodies = sample("debezium/debezium_events.ndjson")
    retried = "01a1fb66-026d-73ec-8e44-5de0b5518bf9"
    graph = fold(*(body for body in bodies if json.loads(body)["eventTime"] < stopped))
    assert (graph.run(retried).state, graph.run(retried).ended) == ("RUNNING", None)
    fold(*(body for body in bodies if json.loads(body)["eventTime"] >= stopped))
    assert (graph.run(retried).state, graph.run(retried).conflict) == ("COMPLETE", True)


def test_flinks_straggling_running_behind_an_abort_does_not_reopen_it(fold: Fold) -> None:
    flink = {"jobType": facet(processingType="STREAMING", integration="FLINK", jobType="JOB")}
    graph = fold(
        run_event("START", **IN_OUT, job_facets=flink),
        *(run_event("RUNNING", time_us=T0 + minute * MINUTE_US) for minute in range(1, 6)),
        run_event("ABORT", time_us=T0 + 5 * MINUTE_US + 20_000_000),
        run_event("RUNNING", time_us=T0 + 6 * MINUTE_US),
    )
    run = graph.run()
    assert (run.state, run.ended) == ("ABORT", T0 + 5 * MINUTE_US + 20_000_000)
    assert graph.walk("a") == {EDGE: Label.CURRENT}
    assert [record.state for record in graph.reader.runs.page(RunFilter(job=graph.node("job", NodeKind.JOB).id, limit=5)).runs] == ["ABORT"]


# schemas


BEFORE = ["id", "customer_id", "amount", "placed_at"]


def of_orders(graph: Graph) -> SchemaHistory:
    return graph.reader.history.schemas(graph.node("shop.public.orders", namespace="postgres://127.0.0.1:5433"), ARRIVAL)


def columns_of(version: SchemaVersion) -> list[str]:
    return [field.name for field in version.fields]


def test_debeziums_restarts_that_replay_ddl_are_no_schema_changes(fold: Fold) -> None:
    """Recorded: one ALTER TABLE, then restarts, at each of which the former schema comes again for a moment, in four minutes."""
    graph = fold(*sample("debezium/debezium_events.ndjson"))
    versions = of_orders(graph).versions
    assert len({version.version for version in versions}) == len(versions) == 4
    assert [columns_of(version) for version in versions if not version.brief] == [[*BEFORE, "note"]]
    (line,) = [line for line in graph.lines("schema", ARRIVAL) if line["dataset"]["name"] == "shop.public.orders"]
    assert [field["name"] for field in line["fields"]] == [*BEFORE, "note"]


def test_debeziums_restarts_of_later_days_are_no_schema_changes_either(fold: Fold) -> None:
    """The same, but the table was altered hours after the start, and each restart came a day after the one before."""
    graph = fold(*spread_over_days(sample("debezium/debezium_events.ndjson")))
    versions = of_orders(graph).versions
    assert len({version.version for version in versions}) == len(versions)
    assert [columns_of(version) for version in versions if not version.brief] == [BEFORE, [*BEFORE, "note"]]
    assert [version.current for version in versions if not version.brief] == [False, True]


def spread_over_days(bodies: list[bytes]) -> list[bytes]:
    """The recorded events with a day between one run and the next, and six hours before the table was altered."""
    runs: dict[str, int] = {}
    out = []
    for event in sorted(map(json.loads, bodies), key=lambda event: str(event["eventTime"])):
        day = runs.setdefault(event["run"]["runId"], len(runs))
        time = parse_time(event["eventTime"])
        assert time is not None
        altered = day == 0 and event["eventTime"] >= "2026-11-20T23:56"
        out.append(json.dumps({**event, "eventTime": format_time(time.us + day * DAY_US + altered * DAY_US // 4)}).encode())
    return out
