"""The graph as of an earlier time, compared with a store of the events by then."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import RUNS, T0, dataset, dataset_event, facet, record_lists, records_of, run_event
from tests.store.reading import read_as_of, reader_of
from tests.store.walks import MIDNIGHT, around, edges, labels, midnights, moments, nodes, plain, ports
from tests.store.writing import NAMES, apply, opened, settle

from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.openlineage.times import parse_time


@settings(max_examples=40, deadline=None)
@given(plain, moments, st.integers(1, 3))
def test_flows_as_of_a_time_are_those_of_the_events_by_then(records: list[StoredRecord], at_us: int, depth: int) -> None:
    with opened() as writer:
        for record in records:
            apply(writer, [record], budget=10_000)
        settle(writer)
        with read_as_of(writer, NAMES, at_us) as then:
            reader = reader_of(writer)
            for node in nodes(reader):
                for direction in ("upstream", "downstream"):
                    past, oracle = (around(r, node, direction, at, at_us, depth) for r, at in ((reader, at_us), (then, None)))
                    assert edges(past) == edges(oracle)
                    assert ports(past) == ports(oracle)
                    assert set(past.columns) == set(oracle.columns)


@settings(max_examples=30, deadline=None)
@given(plain, midnights)
def test_labels_as_of_midnight_are_those_of_the_events_by_then(records: list[StoredRecord], at_us: int) -> None:
    with opened() as writer:
        apply(writer, records)
        settle(writer)
        with read_as_of(writer, NAMES, at_us) as then:
            reader = reader_of(writer)
            for node in nodes(reader):
                past, oracle = (around(r, node, "both", at, at_us) for r, at in ((reader, at_us), (then, None)))
                assert labels(past) == labels(oracle)


@settings(max_examples=40, deadline=None)
@given(record_lists(min_size=4), st.none() | moments | midnights, st.integers(1, 4))
def test_b_is_downstream_of_a_exactly_when_a_is_upstream_of_b(records: list[StoredRecord], at_us: int | None, depth: int) -> None:
    with opened() as writer:
        apply(writer, records)
        settle(writer)
        reader = reader_of(writer)
        datasets = reader.nodes.matching(NodeKind.DATASET, None, None, None, 0)
        down = {a.id: around(reader, a, "downstream", at_us, T0, depth) for a in datasets}
        up = {b.id: around(reader, b, "upstream", at_us, T0, depth).distances for b in datasets}
        # What was dropped is only shown on the way to what lives.
        living = [id_ for id_, walk in down.items() if id_ not in walk.dropped]
        for a in living:
            for b in living:
                assert down[a].distances.get(b) == up[b].get(a)


@settings(max_examples=40, deadline=None)
@given(record_lists(min_size=4, erasing=False), record_lists(erasing=False), st.sampled_from([1, 2, 3, 91]))
def test_an_answer_as_of_midnight_stays_whatever_comes_later(earlier: list[StoredRecord], later: list[StoredRecord], days: int) -> None:
    at_us = MIDNIGHT + days * DAY_US
    # That a job streams is a trait of it, however late it was learnt.
    earlier, later = ([stored for stored in records if b"jobType" not in stored.record.body] for records in (earlier, later))
    with opened() as writer:
        apply(writer, earlier)
        settle(writer)
        reader = reader_of(writer)
        before = {node: around(reader, node, "both", at_us, at_us) for node in nodes(reader)}
        apply(writer, [record for record in later if not _speaks_of_before(record, at_us)])
        settle(writer)
        reader = reader_of(writer)
        for node, walk in before.items():
            again = around(reader, node, "both", at_us, at_us)
            assert (labels(again), edges(again), set(again.columns)) == (labels(walk), edges(walk), set(walk.columns))
            assert (again.members, again.canonical, again.distances) == (walk.members, walk.canonical, walk.distances)


def test_as_of_midnight_a_drop_and_an_end_are_the_last_ones_by_then() -> None:
    """Both are repeated later on: the first one, on an earlier day, is not what holds at the time."""
    dropped = dataset("t", lifecycleStateChange=facet(lifecycleStateChange="DROP"))
    day = DAY_US

    def ran(run: int, type_: str, at: int, name: str) -> bytes:
        return run_event(type_, RUNS[run], "job", T0 + at, outputs=[dataset(name)])

    events = [run_event(job="w", run=RUNS[4], time_us=T0 + time, outputs=[dataset("t")]) for time in (0, day // 4)]
    events += [dataset_event(dropped, T0 + time) for time in (1, day, 9 * day)]
    # Three complete runs without "old"; the first of them starts again the day after, and once more much later.
    events += [ran(0, "COMPLETE", 0, "old")]
    events += [ran(run, "COMPLETE", 2, "new") for run in (1, 2, 3)]
    events += [ran(1, "START", at, "new") for at in (1, day, 9 * day)]
    with opened() as writer:
        apply(writer, records_of(events, arrival=T0 + 20 * DAY_US))
        settle(writer)
        at_us = MIDNIGHT + 2 * DAY_US
        reader = reader_of(writer)
        found = {node.name: node for node in nodes(reader)}
        then = {p.dataset.name: p.label.value for p in around(reader, found["w"], "both", at_us, at_us).ports}
        assert then == {}
        then = {p.dataset.name: p.label.value for p in around(reader, found["job"], "both", at_us, at_us).ports}
        assert then == {"old": "current", "new": "current"}


def test_as_of_a_time_after_a_drop_what_names_the_dataset_on_a_later_day_does_not_count() -> None:
    writes = [run_event("RUNNING", time_us=T0 + time, outputs=[dataset("t")]) for time in (0, DAY_US)]
    drop = dataset_event(dataset("t", lifecycleStateChange=facet(lifecycleStateChange="DROP")), T0 + 1)
    with opened() as writer:
        apply(writer, records_of([*writes, drop], arrival=T0 + 20 * DAY_US))
        settle(writer)
        reader = reader_of(writer)
        (job,) = reader.nodes.matching(NodeKind.JOB, None, None, None, 0)
        for at_us, named in ((T0, 1), (T0 + 2, 0), (T0 + DAY_US, 1)):
            assert len(around(reader, job, "both", at_us, at_us).ports) == named, at_us


def _speaks_of_before(record: StoredRecord, at_us: int) -> bool:
    """Whether an event has a time before this one; a damaged one may be cut where it still looks whole."""
    try:
        found = parse_time(str(json.loads(record.record.body)["eventTime"]))
    except ValueError:
        return False
    return found is None or min(found.us, record.record.arrival_us) < at_us
