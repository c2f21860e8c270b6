"""A drop counts under every name of a dataset, and a dropped dataset between others does not hide what was made of it."""

from typing import Any

import pytest
from tests.events import RUNS, T0, dataset, dataset_event, facet, records_of, run_event
from tests.store.reading import reader_of
from tests.store.writing import apply

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.model.graph import Walk, WalkLimits
from lineage_bridge.store.write.apply import GraphWriter

HOUR = 3_600_000_000
NOW = T0 + 10 * DAY_US
Pair = tuple[str, str]


class Events:
    """Builds events with a new run each; a name may be a pair of namespace and name."""

    def __init__(self, writer: GraphWriter) -> None:
        self.writer, self.runs = writer, 0

    def add(self, job: str, hour: float, inputs: Any = "", outputs: Any = "", change: str = "", **facets: Any) -> None:
        """One run that completed; with `change`, its outputs changed so."""
        self.runs += 1
        run = f"00000000-0000-4000-8000-{self.runs:012}"
        changed: dict[str, Any] = {"lifecycleStateChange": facet(lifecycleStateChange=change)} if change else {}
        body = run_event(
            run=run,
            job=job,
            time_us=T0 + int(hour * HOUR),
            inputs=[_dataset(name) for name in _names(inputs)],
            outputs=[_dataset(name, **changed, **facets) for name in _names(outputs)],
        )
        apply(self.writer, records_of([body], arrival=NOW))

    def drop(self, name: str | Pair, hour: float) -> None:
        self.add("clean", hour, outputs=[name], change="DROP")


def _names(names: Any) -> list[Any]:
    return names if isinstance(names, list) else names.split()


def _dataset(name: str | Pair, **facets: Any) -> dict[str, Any]:
    return dataset(name, **facets) if isinstance(name, str) else dataset(name[1], name[0], **facets)


@pytest.fixture
def events(writer: GraphWriter) -> Events:
    return Events(writer)


def walk(events: Events, name: str, direction: str, depth: int = 20, **how: Any) -> Walk:
    reader = reader_of(events.writer)
    node = reader.nodes.find(NodeKind.DATASET, "ns", name)
    assert node is not None
    return reader.lineage.walk(node, direction, depth, WalkLimits(), now_us=NOW, **how)


def flows(events: Events, name: str, direction: str, depth: int = 20, **how: Any) -> dict[Pair, str]:
    found = walk(events, name, direction, depth, **how)
    return {(edge.source.name, edge.target.name): edge.label.value for edge in found.edges}


def dropped(found: Walk) -> set[str]:
    return {node.name for node in found.nodes if node.id in found.dropped}


def impact(events: Events, name: str, direction: str = "downstream") -> dict[str, bool]:
    reader = reader_of(events.writer)
    node = reader.nodes.find(NodeKind.DATASET, "ns", name)
    assert node is not None
    found = reader.lineage.impact([node], direction, 20, WalkLimits())
    return {item.node.name: item.dropped for item in found.affected if item.node.kind == NodeKind.DATASET}


def paths(events: Events, source: str, target: str) -> list[list[str]]:
    reader = reader_of(events.writer)
    ends = [reader.nodes.find(NodeKind.DATASET, "ns", name) for name in (source, target)]
    assert ends[0]
    assert ends[1]
    found = reader.lineage.paths(ends[0], ends[1], 20, 10, WalkLimits())
    return [[node.name for node in path.nodes] for path in found.paths]


SPARK, HADOOP = ("s3://b", "t"), ("s3a://b", "t")


@pytest.mark.parametrize(("written", "removed"), [(SPARK, HADOOP), (HADOOP, SPARK)])
def test_a_drop_under_another_name_ends_what_was_written(events: Events, written: Pair, removed: Pair) -> None:
    events.add("w", 0, "src", [written])
    assert flows(events, "src", "downstream") == {("src", "t"): "current"}
    events.drop(removed, 1)
    assert flows(events, "src", "downstream") == {}
    assert impact(events, "src") == {}
    assert walk(events, "src", "downstream").ended == 1


@pytest.mark.parametrize(("first", "second"), ["pq", "qp"])
def test_a_drop_of_a_symlink_ends_what_was_written_under_the_other_name(events: Events, first: str, second: str) -> None:
    link = facet(identifiers=[{"namespace": "ns", "name": "q", "type": "TABLE"}])
    events.add("w", 0, "src", "p", symlinks=link)
    events.add("w", 0, "src", first)
    events.drop(second, 1)
    assert flows(events, "src", "downstream") == {}


def test_a_drop_of_a_partition_leaves_its_table_and_a_drop_of_the_table_ends_its_partitions(events: Events) -> None:
    table, partition, other = ("s3://b", "t"), ("s3://b", "t/dt=2026-05-01"), ("s3a://b", "t/dt=2026-05-02")
    events.add("whole", 0, "src", [table])
    events.add("daily", 0, "src", [partition])
    events.add("nightly", 0, "src", [other])
    events.drop(partition, 1)
    assert set(flows(events, "src", "downstream")) == {("src", "t"), ("src", "t/dt=2026-05-02")}
    events.drop(table, 2)
    assert flows(events, "src", "downstream") == {}


def test_dropped_partitions_do_not_hide_what_was_made_from_their_table(events: Events) -> None:
    table, parts = ("s3://b", "stage"), [("s3://b", f"stage/dt=2026-05-0{day}") for day in (1, 2, 3)]
    for day, part in enumerate(parts):
        events.add("load", day * 24, "src", [part])
        events.add("build", day * 24 + 1, [table], "final")
        events.drop(("s3a://b", part[1]), day * 24 + 2)
    assert set(flows(events, "src", "downstream")) == {("src", parts[2][1]), ("stage", "final")}, "the newest stands for all"
    assert set(flows(events, "final", "upstream")) == {("src", parts[2][1]), ("stage", "final")}
    assert set(impact(events, "final", "upstream")) == {"stage", "src"}
    events.add("load", 96, "src", [("s3://b", "stage/dt=2026-05-04")])
    assert set(flows(events, "src", "downstream")) == {("src", "stage/dt=2026-05-04"), ("stage", "final")}, "what is left stands for all"


@pytest.mark.parametrize(
    "read", [[], [("s3://b", "stage/dt=2026-05-02")], [("s3://b", "stage")]], ids=["never", "another partition", "later"]
)
def test_a_dropped_partition_that_was_not_read_has_ended(events: Events, read: list[Pair]) -> None:
    part = ("s3://b", "stage/dt=2026-05-01")
    events.add("load", 0, "src", [part])
    events.drop(part, 1)
    if read:
        events.add("build", 2, read, "final")
    assert flows(events, "src", "downstream") == {}
    assert ("src", part[1]) not in flows(events, "final" if read else "src", "upstream")


def test_a_dropped_stepping_stone_does_not_hide_its_product(events: Events) -> None:
    for day in (0, 24):
        events.add("stage", day, "src", "tmp")
        events.add("load", day + 1, "tmp", "final")
        events.drop("tmp", day + 2)
    both = {("src", "tmp"): "current", ("tmp", "final"): "current"}
    assert flows(events, "src", "downstream") == flows(events, "final", "upstream") == both
    assert dropped(walk(events, "final", "upstream")) == {"tmp"}
    assert impact(events, "src") == {"tmp": True, "final": False}
    assert impact(events, "final", "upstream") == {"tmp": True, "src": False}
    assert paths(events, "src", "final") == [["src", "tmp", "final"]]
    assert flows(events, "src", "downstream", depth=1) == {("src", "tmp"): "current"}
    assert flows(events, "tmp", "both") == both
    assert flows(events, "final", "upstream", at_us=T0 + 2 * HOUR) == both


def test_a_branch_that_ends_in_nothing_living_is_left_out_and_counted(events: Events) -> None:
    events.add("a", 0, "src", "tmp1 kept")
    events.add("b", 1, "tmp1", "tmp2")
    events.drop("tmp1", 2)
    events.drop("tmp2", 3)
    found = walk(events, "src", "downstream")
    assert {(edge.source.name, edge.target.name) for edge in found.edges} == {("src", "kept")}
    assert (found.ended, dropped(found)) == (1, set())
    assert {port.job.name for port in found.ports} == {"a"}
    assert impact(events, "src") == {"kept": False}
    shown = walk(events, "src", "downstream", ended=True)
    assert {(edge.target.name, edge.label) for edge in shown.edges} == {
        ("kept", Label.CURRENT),
        ("tmp1", Label.ENDED),
        ("tmp2", Label.ENDED),
    }


def test_a_way_is_cut_by_a_drop_between_writing_and_reading(events: Events) -> None:
    events.add("old", 0, "src", "tmp")
    events.drop("tmp", 1)
    events.add("new", 2, "other", "tmp")
    events.add("load", 3, "tmp", "final")
    events.drop("tmp", 4)
    assert impact(events, "src") == {}
    assert impact(events, "other") == {"tmp": True, "final": False}
    assert set(flows(events, "final", "upstream")) == {("other", "tmp"), ("tmp", "final")}
    assert walk(events, "final", "upstream").ended == 1
    assert paths(events, "src", "final") == []


def test_what_was_dropped_and_written_again_lives_but_its_earlier_writers_have_ended(events: Events) -> None:
    events.add("old", 0, "a", "t")
    events.add("reader", 0.5, "t", "u")
    events.drop("t", 1)
    events.add("make", 2, outputs="t", change="CREATE")
    found = walk(events, "t", "both")
    assert {(edge.source.name, edge.target.name): edge.label for edge in found.edges} == {("t", "u"): Label.STALE}
    assert {(port.job.name, port.label) for port in found.ports} == {("reader", Label.STALE), ("make", Label.CURRENT)}
    assert dropped(found) == set()
    events.add("reader", 3, "t", "u")
    assert flows(events, "t", "downstream") == {("t", "u"): "current"}


@pytest.mark.parametrize("hours", [(1, 1.1), (1.1, 1)])
def test_what_the_dropping_run_says_is_no_writing(events: Events, hours: tuple[float, float]) -> None:
    events.add("w", 0, "src", "t")
    drop = dataset("t", lifecycleStateChange=facet(lifecycleStateChange="DROP"))
    bodies = [
        run_event(type_, run=RUNS[4], job="clean", time_us=T0 + int(hour * HOUR), outputs=[named])
        for type_, hour, named in zip(
            ("START", "COMPLETE"), sorted(hours), ([drop, dataset("t")][:: 1 if hours[0] == 1 else -1]), strict=True
        )
    ]
    apply(events.writer, records_of(bodies, arrival=NOW))
    assert flows(events, "src", "downstream") == {}
    assert dropped(walk(events, "t", "both")) == {"t"}


def test_reading_what_was_dropped_does_not_bring_it_back(events: Events) -> None:
    events.add("w", 0, "src", "t")
    events.add("r", 0.5, "t", "u")
    events.drop("t", 1)
    events.add("r", 2, "t", "u")
    assert dropped(walk(events, "u", "upstream")) == {"t"}
    assert set(flows(events, "u", "upstream")) == {("src", "t"), ("t", "u")}


def test_drops_that_a_producer_declares_at_several_hours_of_a_day_cut_where_they_are_known(events: Events) -> None:
    drop = dataset("tmp", lifecycleStateChange=facet(lifecycleStateChange="DROP"))
    day = T0 - T0 % DAY_US + DAY_US
    start = (day - T0) / HOUR
    for hour in (1, 12, 23):
        apply(events.writer, records_of([dataset_event(drop, day + hour * HOUR)], arrival=NOW))
    events.add("stage", start + 11, "src", "tmp")
    events.add("load", start + 13, "tmp", "final")
    assert impact(events, "src") == {"tmp": True, "final": False}
    events.add("late", start + 22, "other", "tmp")
    events.add("after", start + 24, "tmp", "product")
    assert impact(events, "other") == {"tmp": True, "final": False}


def test_a_job_shows_the_ports_of_ways_that_still_lead_somewhere(events: Events) -> None:
    events.add("stage", 0, "src", "tmp")
    events.add("load", 1, "tmp", "final")
    events.add("look", 1, "tmp")
    events.drop("tmp", 2)
    reader = reader_of(events.writer)
    for job, named in (("stage", {"src", "tmp"}), ("load", {"tmp", "final"}), ("look", set())):
        node = reader.nodes.find(NodeKind.JOB, "jobs", job)
        assert node is not None
        assert {port.dataset.name for port in reader.lineage.job_ports(node, now_us=NOW)} == named


def test_a_flow_of_a_job_whose_only_output_was_dropped_is_unambiguous(events: Events) -> None:
    events.add("w", 1, "src", "t")
    events.add("both", 1, "src", "u v")
    events.drop("t", 2)
    events.drop("u", 2)
    events.drop("v", 2)
    assert [edge.unambiguous for edge in walk(events, "t", "upstream").edges] == [True]
    assert [edge.unambiguous for edge in walk(events, "u", "upstream").edges] == [False]
