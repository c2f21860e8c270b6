"""Impact and paths over the store."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpora.aliases import alias_operation, between_names, operator
from tests.events import RUNS, T0, columns, dataset, dataset_event, facet, record_lists, run_event, stored_record
from tests.store.reading import node, reader_of
from tests.store.walks import affected
from tests.store.writing import add, apply, moves, opened, settle

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.lineage import Impact
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

DIAMOND = moves(("a", "j1", "b"), ("a", "j2", "c"), ("b", "j3", "d"), ("c", "j4", "d"), ("other", "j5", "c"), ("d", "j6", "e"))


def test_impact_has_distance_paths_and_whether_all_or_some_is_affected(writer: GraphWriter) -> None:
    reader = add(writer, *DIAMOND)
    assert affected(reader.lineage.impact([node(reader, "a")], "downstream", 50, WalkLimits())) == {
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


def test_impact_of_several_is_what_depends_on_any_of_them(writer: GraphWriter) -> None:
    reader = add(writer, *DIAMOND)
    origins = [node(reader, "other"), node(reader, "j1", NodeKind.JOB), node(reader, "a"), node(reader, "a")]
    assert affected(reader.lineage.impact(origins, "downstream", 50, WalkLimits())) == {
        "b": (1, 2, True),
        "c": (1, 2, True),
        "d": (2, 4, True),
        "e": (3, 4, True),
        "j2": (1, None, True),
        "j3": (2, None, True),
        "j4": (2, None, True),
        "j5": (1, None, True),
        "j6": (3, None, True),
    }


def test_an_origin_behind_another_is_not_affected(writer: GraphWriter) -> None:
    reader = add(writer, *DIAMOND)
    found = reader.lineage.impact([node(reader, "a"), node(reader, "d")], "downstream", 50, WalkLimits())
    assert affected(found) == {
        "b": (1, 1, True),
        "c": (1, 1, False),
        "e": (1, 1, True),
        "j1": (1, None, True),
        "j2": (1, None, True),
        "j3": (2, None, True),
        "j4": (2, None, False),
        "j6": (1, None, True),
    }


def flows(impact: Impact) -> set[tuple[str, str, str, str]]:
    return {(flow.source.name, flow.target.name, flow.job.name, flow.origin.name) for flow in impact.flows}


def test_the_flows_of_an_impact_are_the_ways_to_what_is_affected(writer: GraphWriter) -> None:
    reader = add(writer, *DIAMOND, run_event(job="dashboard", inputs=[dataset("d")]))
    found = reader.lineage.impact([node(reader, "b"), node(reader, "j5", NodeKind.JOB)], "downstream", 50, WalkLimits())
    assert flows(found) == {
        ("b", "d", "j3", "OBSERVED"),
        ("j5", "c", "j5", "OBSERVED"),
        ("c", "d", "j4", "OBSERVED"),
        ("d", "e", "j6", "OBSERVED"),
        ("d", "dashboard", "dashboard", "OBSERVED"),
    }
    assert {end.name for flow in found.flows for end in (flow.source, flow.target, flow.job)} == {"b", *affected(found), "j5"}
    up = reader.lineage.impact([node(reader, "b")], "upstream", 50, WalkLimits())
    assert flows(up) == {("a", "b", "j1", "OBSERVED")}


def test_a_job_that_writes_only_what_it_reads_has_a_flow_of_its_own(writer: GraphWriter) -> None:
    reader = add(writer, *moves(("a", "merge", "a"), ("a", "j", "b"), ("b", "j", "b"), ("b", "compact", "b")))
    down = reader.lineage.impact([node(reader, "a")], "downstream", 50, WalkLimits())
    assert affected(down).keys() == {"b", "j", "merge", "compact"}
    assert flows(down) == {
        ("a", "b", "j", "OBSERVED"),
        ("a", "merge", "merge", "OBSERVED"),
        ("b", "j", "j", "OBSERVED"),
        ("b", "compact", "compact", "OBSERVED"),
    }
    up = reader.lineage.impact([node(reader, "b")], "upstream", 50, WalkLimits())
    assert {("compact", "b", "compact", "OBSERVED"), ("merge", "a", "merge", "OBSERVED")} <= flows(up)


def test_impact_upstream_is_what_a_node_depends_on(writer: GraphWriter) -> None:
    reader = add(writer, *DIAMOND)
    found = affected(reader.lineage.impact([node(reader, "d")], "upstream", 50, WalkLimits()))
    assert {name: found[name] for name in ("a", "b", "c", "other")} == {
        "a": (2, 2, True),
        "b": (1, 1, True),
        "c": (1, 1, True),
        "other": (2, 1, True),
    }


def test_impact_of_a_job_begins_at_what_it_writes_and_met_again_is_not_affected_by_itself(writer: GraphWriter) -> None:
    reader = add(writer, *moves(("a", "j", "b"), ("b", "k", "a")))
    assert affected(reader.lineage.impact([node(reader, "j", NodeKind.JOB)], "downstream", 50, WalkLimits())) == {
        "b": (1, 1, True),
        "a": (2, 1, True),
        "k": (2, None, True),
    }


def test_a_job_that_only_reads_is_affected(writer: GraphWriter) -> None:
    reader = add(writer, run_event(job="dashboard", inputs=[dataset("a")]))
    assert affected(reader.lineage.impact([node(reader, "a")], "downstream", 50, WalkLimits())) == {"dashboard": (1, None, True)}


def test_impact_counts_the_names_of_one_dataset_once(writer: GraphWriter) -> None:
    linked = dataset("path", namespace="s3://lake", symlinks=facet(identifiers=[{"namespace": "hive://h:1", "name": "t", "type": "TABLE"}]))
    reader = add(
        writer,
        run_event(run=RUNS[0], job="w", inputs=[dataset("a")], outputs=[linked]),
        run_event(run=RUNS[1], job="r", inputs=[dataset("t", namespace="hive://h:1")], outputs=[dataset("z")]),
    )
    assert affected(reader.lineage.impact([node(reader, "a")], "downstream", 50, WalkLimits())) == {
        "t": (1, 1, True),
        "z": (2, 1, True),
        "w": (1, None, True),
        "r": (2, None, True),
    }


def test_a_dataset_that_declares_what_it_is_made_of_is_listed_once_whatever_its_name(writer: GraphWriter) -> None:
    linked = dataset("path", namespace="s3://lake", symlinks=facet(identifiers=[{"namespace": "hive://h:1", "name": "t", "type": "TABLE"}]))
    declaring = dataset("path", namespace="s3://lake", columnLineage=columns(id=[("ns", "a", "id")]))
    reader = add(writer, run_event(job="w", outputs=[linked]), dataset_event(declaring))
    assert affected(reader.lineage.impact([node(reader, "a")], "downstream", 50, WalkLimits())) == {"t": (1, 1, True)}


def test_a_job_of_two_names_is_one(writer: GraphWriter) -> None:
    moved = moves(("a", "j1", "b"), ("a", "j2", "b"), ("b", "j2", "c"), ("c", "other", "d"))
    records = [stored_record(body, offset=offset) for offset, body in enumerate(moved)]
    same = operator(alias_operation("alias", between_names(("jobs", "j1"), ("jobs", "j2"), entity="job")))
    apply(writer, [*records, same])
    settle(writer)
    reader = reader_of(writer)
    limits = WalkLimits()
    first, second = (reader.lineage.impact([node(reader, name, NodeKind.JOB)], "downstream", 50, limits) for name in ("j1", "j2"))
    assert affected(first) == affected(second)
    assert {name: distance for name, (distance, *_) in affected(first).items()} == {"b": 1, "c": 1, "d": 2, "other": 2}
    assert {"j1", "j2"} & affected(reader.lineage.impact([node(reader, "a")], "downstream", 50, limits)).keys() == {"j1"}
    found = reader.lineage.paths(node(reader, "a"), node(reader, "b"), 9, 9, limits)
    assert [[[job.name for job in hop] for hop in path.jobs] for path in found.paths] == [[["j1"]]]
    for name in ("j1", "j2"):
        walk = reader.lineage.walk(node(reader, name, NodeKind.JOB), "downstream", 1, limits, now_us=T0)
        assert {walk.distances[node(reader, dataset_name).id] for dataset_name in ("b", "c")} == {1}


def test_impact_says_when_it_stopped_early(writer: GraphWriter) -> None:
    reader = add(writer, run_event(inputs=[dataset("a")], outputs=[dataset(f"o{n}") for n in range(20)]))
    found = reader.lineage.impact([node(reader, "a")], "downstream", 5, WalkLimits(nodes=10))
    assert found.truncated == "nodes"
    assert found.hidden > 0


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
            impact = reader.lineage.impact([origin], direction, 50, WalkLimits())
            own = {member.id for member in walk.members}
            met = {walk.canonical.get(id_, id_): hops for id_, hops in walk.distances.items() if id_ not in own}
            assert {a.node.id: a.distance for a in impact.affected if a.paths is not None} == met


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
