"""Snapshots in the store: what closes takes no new dataset to be seen, and the store sees it as the plain rule does."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import KEY, RUNS, T0, columns, dataset, facet, records_of, run_event
from tests.store.reading import reader_of
from tests.store.tables import contents
from tests.store.writing import apply, opened, settle

from lineage_bridge.graph.facts.fold import fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import WalkLimits

NAMES = Names(KEY)
MINUTE = 60_000_000
PATTERN = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT"}
DERIVED = ("run_shape", "job_shape", "job_io", "flow", "job_lineage_set")


def snapshot_event(minute: int, run: str, inputs: str, outputs: str, sources: str, entries: str, declared: bool) -> bytes:
    """An event; `sources` are those of the columns of each output, `entries` those of the explicit lineage of t."""
    by_columns: dict[str, Any] = {"columnLineage": columns(x=[("ns", name, "x") for name in sources])} if sources else {}
    facets: dict[str, Any] = {}
    if declared:
        facets["jobType"] = facet(processingType="STREAMING", integration="TEST", emissionPattern=PATTERN)
    if entries:
        ends = [{"type": "DATASET", "namespace": "ns", "name": name} for name in entries]
        facets["lineage"] = facet(entries=[{"type": "DATASET", "namespace": "ns", "name": "t", "inputs": ends}])
    read, written = [dataset(name) for name in inputs], [dataset(name, **by_columns) for name in outputs]
    return run_event("RUNNING", run, "job", T0 + minute * MINUTE, read, written, job_facets=facets)


_some = st.sampled_from(["", "a", "b", "ab"])
_events = st.builds(
    snapshot_event,
    st.sampled_from([0, 1, 2, 3, 1440, 1441]),
    st.sampled_from([RUNS[0], RUNS[0], RUNS[1]]),
    _some,
    st.sampled_from(["", "t", "u", "tu"]),
    _some,
    st.sampled_from(["", "", "", "a", "b"]),
    st.sampled_from([True, True, False]),
)


def test_as_of_a_time_a_side_is_what_the_newest_snapshot_by_then_named() -> None:
    day = 1440
    events = [
        snapshot_event(minute, RUNS[0], inputs, "t", "", "", True)
        for minute, inputs in ((0, "ab"), (60, "a"), (2 * day, "a"), (4 * day, "ab"))
    ]
    midnight = T0 - T0 % DAY_US
    expected = {
        T0 - 1: "",
        T0: "ab",
        T0 + 30 * MINUTE: "ab",
        T0 + 60 * MINUTE: "a",
        midnight + DAY_US: "a",
        midnight + 3 * DAY_US: "a",
        midnight + 4 * DAY_US: "a",
        midnight + 5 * DAY_US: "ab",
        None: "ab",
    }
    with opened() as writer:
        apply(writer, records_of(events, arrival=T0 + 9 * DAY_US))
        settle(writer)
        reader = reader_of(writer)
        job, target = reader.nodes.find(NodeKind.JOB, "jobs", "job"), reader.nodes.find(NodeKind.DATASET, "ns", "t")
        assert job is not None
        assert target is not None
        for at_us, names in expected.items():
            now_us = T0 + 5 * DAY_US if at_us is None else at_us
            ports = reader.lineage.job_ports(job, now_us=now_us, at_us=at_us)
            assert "".join(port.dataset.name for port in ports if port.side == Side.INPUT) == names, at_us
            walk = reader.lineage.walk(target, "upstream", 1, WalkLimits(), now_us=now_us, at_us=at_us)
            assert "".join(sorted(edge.source.name for edge in walk.edges)) == names, at_us
            if at_us is not None:
                with reader_of(writer).whole.refolded(NAMES, at_us, frozenset()) as again:
                    ports = again.lineage.job_ports(job, now_us=at_us)
                    assert "".join(port.dataset.name for port in ports if port.side == Side.INPUT) == names, at_us


@settings(max_examples=100, deadline=None)
@given(st.lists(_events, min_size=2, max_size=8).map(records_of), st.data())
def test_the_store_closes_as_the_plain_rule_does(records: list[StoredRecord], data: st.DataObject) -> None:
    derived = derive(fold_records(records, NAMES), NAMES)
    with opened() as writer:
        left = data.draw(st.permutations(records))
        while left:
            size = data.draw(st.integers(1, 3))
            apply(writer, left[:size], budget=data.draw(st.sampled_from([1, 10_000])))
            left = left[size:]
        settle(writer)
        for name in DERIVED:
            assert contents(writer, name) == derived.get(name, set()), name
        assert all(d.surplus == d.missing == 0 for d in reader_of(writer).whole.differences(NAMES))
