"""Questions to the store."""

from tests.events import KEY, RUNS, T0, columns, dataset, facet, job_event, run_event
from tests.store.reading import found, listening_reader_of, reader_of
from tests.store.tables import execute
from tests.store.writing import add

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.store.write.apply import GraphWriter

NAMES = Names(KEY)


def chain(length: int) -> list[bytes]:
    return [
        run_event(run=f"run {number}", job=f"j{number}", inputs=[dataset(f"d{number}")], outputs=[dataset(f"d{number + 1}")])
        for number in range(length)
    ]


def names(nodes: tuple[Node, ...]) -> set[str]:
    return {node.name for node in nodes}


def walked(writer: GraphWriter, name: str, direction: str, depth: int, **limits: int) -> tuple[set[str], set[tuple[str, str, str]]]:
    r = reader_of(writer)
    walk = r.lineage.walk(found(r, name), direction, depth, WalkLimits(**limits), now_us=T0)
    return names(walk.nodes), {(e.source.name, e.job.name, e.target.name) for e in walk.edges}


def test_a_walk_goes_as_far_as_asked(writer: GraphWriter) -> None:
    add(writer, *chain(5))
    assert walked(writer, "d2", "upstream", 1)[0] == {"d1", "d2"}
    assert walked(writer, "d2", "downstream", 2)[0] == {"d2", "d3", "d4"}
    assert walked(writer, "d2", "both", 50)[0] == {f"d{number}" for number in range(6)}
    assert walked(writer, "d2", "upstream", 1)[1] == {("d1", "j1", "d2")}


def test_both_is_the_union_of_up_and_down_not_an_undirected_walk(writer: GraphWriter) -> None:
    add(
        writer,
        run_event(run=RUNS[0], job="j", inputs=[dataset("a")], outputs=[dataset("b")]),
        run_event(run=RUNS[1], job="k", inputs=[dataset("a")], outputs=[dataset("sibling")]),
    )
    assert walked(writer, "b", "both", 10)[0] == {"a", "b"}


def test_a_cycle_ends(writer: GraphWriter) -> None:
    add(
        writer,
        run_event(run=RUNS[0], job="j", inputs=[dataset("a")], outputs=[dataset("b")]),
        run_event(run=RUNS[1], job="k", inputs=[dataset("b")], outputs=[dataset("a")]),
    )
    nodes, edges = walked(writer, "a", "downstream", 50)
    assert nodes == {"a", "b"}
    assert edges == {("a", "j", "b"), ("b", "k", "a")}


def test_a_walk_that_stops_early_says_so(writer: GraphWriter) -> None:
    add(writer, run_event(inputs=[dataset("a")], outputs=[dataset(f"o{number}") for number in range(20)]))
    r = reader_of(writer)
    walk = r.lineage.walk(found(r, "a"), "downstream", 5, WalkLimits(nodes=10), now_us=T0)
    assert walk.truncated == "nodes"
    assert len(walk.nodes) == 10
    assert walk.hidden == 20 - len(walk.edges)
    assert reader_of(writer).lineage.walk(found(r, "a"), "downstream", 5, WalkLimits(edges=5), now_us=T0).truncated == "edges"


def test_inputs_do_not_lead_to_outputs_but_flows_do(writer: GraphWriter) -> None:
    loader = [
        run_event(run=f"load {number}", job="loader", inputs=[dataset(f"src{number}")], outputs=[dataset(f"dst{number}")])
        for number in range(5)
    ]
    add(writer, *loader)
    assert walked(writer, "src3", "downstream", 5)[0] == {"src3", "dst3"}
    assert execute(writer, "SELECT count(*) FROM flow").fetchone() == (5,)


def test_a_job_that_only_reads_is_met_as_a_port(writer: GraphWriter) -> None:
    add(writer, run_event(job="sink", inputs=[dataset("a")]))
    r = reader_of(writer)
    walk = r.lineage.walk(found(r, "a"), "downstream", 3, WalkLimits(), now_us=T0)
    assert [(port.job.name, port.side) for port in walk.ports] == [("sink", Side.INPUT)]
    assert walk.edges == ()


def test_a_walk_may_begin_at_a_job(writer: GraphWriter) -> None:
    add(writer, *chain(3))
    r = reader_of(writer)
    assert names(r.lineage.walk(found(r, "j1", NodeKind.JOB), "downstream", 1, WalkLimits(), now_us=T0).nodes) == {"j1", "d2"}
    assert names(r.lineage.walk(found(r, "j1", NodeKind.JOB), "upstream", 2, WalkLimits(), now_us=T0).nodes) == {"j1", "d1", "d0"}


def test_a_walk_crosses_the_names_of_one_dataset(writer: GraphWriter) -> None:
    linked = dataset("path", namespace="s3://lake", symlinks=facet(identifiers=[{"namespace": "hive://h:1", "name": "t", "type": "TABLE"}]))
    add(
        writer,
        run_event(run=RUNS[0], job="writer", inputs=[dataset("a")], outputs=[linked]),
        run_event(run=RUNS[1], job="reader", inputs=[dataset("t", namespace="hive://h:1")], outputs=[dataset("z")]),
    )
    assert walked(writer, "a", "downstream", 5)[0] == {"a", "path", "t", "z"}
    assert walked(writer, "z", "upstream", 5)[0] == {"a", "path", "t", "z"}
    r = reader_of(writer)
    walk = r.lineage.walk(found(r, "a"), "downstream", 5, WalkLimits(), now_us=T0)
    by_name = {node.name: node.id for node in walk.nodes}
    assert walk.canonical == {by_name["path"]: by_name["t"], by_name["t"]: by_name["t"]}


def test_columns_of_a_walk(writer: GraphWriter) -> None:
    target = dataset("b", columnLineage=columns(total=[("ns", "a", "amount"), ("ns", "a", "tax")]))
    add(writer, run_event(inputs=[dataset("a")], outputs=[target]))
    r = reader_of(writer)
    walk = r.lineage.walk(found(r, "b"), "upstream", 1, WalkLimits(), now_us=T0, columns=True)
    assert {(c.source_field, c.target_field, c.transformations) for c in walk.columns} == {
        ("amount", "total", (("DIRECT", "IDENTITY", False),)),
        ("tax", "total", (("DIRECT", "IDENTITY", False),)),
    }


def test_a_hub_is_crossed_without_its_pairs(writer: GraphWriter) -> None:
    add(writer, run_event(inputs=[dataset(f"i{number}") for number in range(600)], outputs=[dataset("o1"), dataset("o2")]))
    assert execute(writer, "SELECT count(*) FROM flow").fetchone() == (0,)
    nodes, edges = walked(writer, "i7", "downstream", 2)
    assert nodes == {"i7", "o1", "o2"}
    assert edges == {("i7", "job", "o1"), ("i7", "job", "o2")}
    assert len(walked(writer, "o1", "upstream", 1)[0]) == 601


def test_start_and_complete_make_one_flow(writer: GraphWriter) -> None:
    add(writer, run_event("START", inputs=[dataset("a")]), run_event("RUNNING"), run_event("COMPLETE", outputs=[dataset("b")]))
    assert walked(writer, "a", "downstream", 1)[1] == {("a", "job", "b")}


def test_an_edge_that_three_newer_runs_lack_is_superseded(writer: GraphWriter) -> None:
    bodies = [run_event(run="old", time_us=T0, inputs=[dataset("old")], outputs=[dataset("z")])]
    bodies += [
        run_event(run=f"new {number}", time_us=T0 + number * 1000, inputs=[dataset("new")], outputs=[dataset("z")])
        for number in range(1, 4)
    ]
    add(writer, *bodies[:3])
    r = reader_of(writer)
    assert {e.source.name: e.label for e in r.lineage.walk(found(r, "z"), "upstream", 1, WalkLimits(), now_us=T0).edges} == {
        "old": Label.CURRENT,
        "new": Label.CURRENT,
    }
    add(writer, bodies[3])
    r = reader_of(writer)
    walk = r.lineage.walk(found(r, "z"), "upstream", 1, WalkLimits(), now_us=T0)
    assert {e.source.name: e.label for e in walk.edges} == {"old": Label.SUPERSEDED, "new": Label.CURRENT}
    stale = r.lineage.walk(found(r, "z"), "upstream", 1, WalkLimits(), now_us=T0 + 31 * DAY_US)
    assert {e.source.name: e.label for e in stale.edges} == {"old": Label.SUPERSEDED, "new": Label.STALE}


def test_a_heartbeat_keeps_an_edge_fresh(writer: GraphWriter) -> None:
    streaming = {"jobType": facet(processingType="STREAMING", integration="TEST")}
    add(
        writer,
        run_event("START", time_us=T0, inputs=[dataset("a")], outputs=[dataset("b")], job_facets=streaming),
        run_event("RUNNING", time_us=T0 + 300 * DAY_US),
    )
    r = reader_of(writer)
    (edge,) = r.lineage.walk(found(r, "a"), "downstream", 1, WalkLimits(), now_us=T0 + 301 * DAY_US).edges
    assert (edge.label, edge.last) == (Label.CURRENT, T0 + 300 * DAY_US)


def test_a_declared_job_has_its_edges(writer: GraphWriter) -> None:
    add(writer, job_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    add(writer, job_event(time_us=T0 + 1, inputs=[dataset("c")], outputs=[dataset("b")]))
    assert walked(writer, "b", "upstream", 1)[1] == {("c", "job", "b")}


def test_the_inputs_and_outputs_of_all_jobs_of_a_walk_are_asked_for_at_once(writer: GraphWriter) -> None:
    add(writer, *chain(5))
    asked = []
    for depth in (2, 5):
        reader, statements = listening_reader_of(writer)
        walk = reader.lineage.walk(found(reader, "d0"), "downstream", depth, WalkLimits(), now_us=T0)
        assert [edge.unambiguous for edge in walk.edges] == [True] * depth
        asked.append(sum("FROM job_io WHERE job" in sql for sql in statements))
    assert asked == [2, 2]


def test_a_walk_asks_once_which_kinds_of_rows_there_are(writer: GraphWriter) -> None:
    add(writer, *chain(3))
    reader, statements = listening_reader_of(writer)
    reader.lineage.walk(found(reader, "d0"), "both", 1, WalkLimits(), now_us=T0)
    asked = [sql for sql in statements if sql.startswith(("SELECT EXISTS", "SELECT 1 FROM")) or "FROM alias" in sql]
    assert [sql.count("EXISTS (") for sql in asked] == [12]


def test_kinds_of_rows_that_come_later_count_in_later_questions(writer: GraphWriter) -> None:
    add(writer, *chain(2))
    reader = reader_of(writer)
    walk = reader.lineage.walk(found(reader, "d0"), "downstream", 5, WalkLimits(), now_us=T0)
    assert len(walk.edges) == 2
    drop = dataset("d2", lifecycleStateChange=facet(lifecycleStateChange="DROP"))
    add(writer, run_event(run=RUNS[0], job="dropper", time_us=T0 + 9, outputs=[drop]))
    later = reader_of(writer)
    walk = later.lineage.walk(found(later, "d0"), "downstream", 5, WalkLimits(), now_us=T0 + 9)
    assert [edge.target.name for edge in walk.edges] == ["d1"]
