"""The whole graph measured on Spark, against plain sets over the exported graph; kept, and read back page by page."""

import json
import random
from collections import defaultdict
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.events import T0, dataset, dataset_event, facet, job_event, records_of, run_event
from tests.store.reading import reader_of
from tests.store.tables import execute
from tests.store.writing import apply, opened

from lineage_bridge.errors import NotFoundError
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.analysis import Analysis, GraphTable, LastUse, NodeMeasure
from lineage_bridge.model.graph import Node
from lineage_bridge.pipeline.analyse import analyse, write_tables
from lineage_bridge.store.whole.analysis import Findings, write_findings
from lineage_bridge.store.write.apply import GraphWriter

pytestmark = pytest.mark.spark

Name = tuple[str, str]


def linked(name: str, other: str) -> dict[str, object]:
    return dataset(name, symlinks=facet(identifiers=[{"namespace": "ns", "name": other, "type": "TABLE"}]))


def bodies() -> list[bytes]:
    source = random.Random(3)
    events = [
        run_event(
            run=f"00000000-0000-0000-0000-{n:012}",
            job=f"j{n}",
            time_us=T0 + n,
            inputs=[dataset(f"d{source.randrange(40)}") for _ in range(source.randrange(3))],
            outputs=[dataset(f"d{source.randrange(40)}") for _ in range(source.randrange(3))],
        )
        for n in range(45)
    ]
    events += [
        run_event(job="one name", outputs=[linked("d1", "d2")], run="00000000-0000-0000-0001-000000000000"),
        run_event(job="itself", inputs=[dataset("self")], outputs=[dataset("self")], run="00000000-0000-0000-0002-000000000000"),
        run_event(
            job="wide",
            inputs=[dataset(f"w{n}") for n in range(40)],
            outputs=[dataset(f"w{n}") for n in range(39, 80)],
            run="00000000-0000-0000-0003-000000000000",
        ),
        run_event(
            job="show", inputs=[dataset("d0"), dataset("w45")], outputs=[dataset("board", datasetType=facet(datasetType="Dashboard"))]
        ),
        job_event(job="declared", inputs=[dataset("board")], outputs=[dataset("d5")]),
        json.dumps({**json.loads(job_event()), "job": {"namespace": "jobs", "name": "lonely"}}).encode(),
    ]
    alone = json.loads(job_event())
    del alone["job"]
    events.append(json.dumps({**alone, "dataset": dataset("alone")}).encode())
    return events


def by_hand(writer: GraphWriter) -> tuple[dict[Name, set[Name]], set[Name]]:
    """Which groups each group reaches, by pairs; and all groups of datasets."""
    spelling = {id_: (space, name) for id_, space, name in execute(writer, "SELECT id, namespace, name FROM node")}
    spelling |= {known.node: (known.namespace, known.name) for known in reader_of(writer).nodes.identities.all()}
    pairs = set(execute(writer, "SELECT source, target FROM flow"))
    for hub in execute(writer, "SELECT DISTINCT hub FROM hub").fetchall():
        members = execute(writer, "SELECT side, dataset FROM hub_io WHERE hub = ?", hub).fetchall()
        pairs |= {(a, b) for side, a in members if side == Side.INPUT for other, b in members if other == Side.OUTPUT}
    after = defaultdict(set)
    for a, b in pairs:
        if spelling[a] != spelling[b]:
            after[spelling[a]].add(spelling[b])
    reached = {}
    for start in set(spelling.values()):
        found: set[Name] = set()
        waiting = [start]
        while waiting:
            new = after[waiting.pop()] - found
            found |= new
            waiting += new
        reached[start] = found
    return reached, {spelling[id_] for (id_,) in execute(writer, "SELECT id FROM node WHERE kind = 1")}


def named(node: Node) -> Name:
    return node.namespace, node.name


def measured(spark: SparkSession, writer: GraphWriter, folder: Path, before_us: int) -> Analysis:
    write_tables(reader_of(writer).whole.tables(), folder)
    return analyse(spark, folder, unused_before_us=before_us)


def test_measures_equal_those_of_plain_sets(spark: SparkSession, tmp_path: Path) -> None:
    with opened() as writer:
        apply(writer, records_of(bodies()))
        found = measured(spark, writer, tmp_path, T0 + 20)
        reached, datasets = by_hand(writer)
        assert found.exact
        measures = {named(measure.node): measure for measure in found.nodes}
        assert measures.keys() == reached.keys()
        for name, measure in measures.items():
            below = (reached[name] & datasets) - {name}
            above = {other for other in datasets if name in reached[other]} - {name}
            assert (measure.downstream, measure.upstream) == (len(below), len(above)), name
            assert measure.dashboards == len(below & {("ns", "board")})
        together = {frozenset({a, *(b for b in reached[a] if a in reached[b])}) for a in reached if a in reached[a]}
        assert {frozenset(map(named, cycle)) for cycle in found.cycles} == {group for group in together if len(group) > 1}
        assert found.cycles
        assert [named(node) for node in found.orphans] == [("ns", "alone")]
        _check_unused(writer, found)


def _check_unused(writer: GraphWriter, found: Analysis) -> None:
    spelling = {id_: (space, name) for id_, space, name in execute(writer, "SELECT id, namespace, name FROM node")}
    spelling |= {known.node: (known.namespace, known.name) for known in reader_of(writer).nodes.identities.all()}
    last: dict[tuple[Name, int], int] = {}
    for dataset_id, side, moment in execute(
        writer, "SELECT i.dataset, i.side, max(j.last) FROM job_shape j JOIN shape_io i ON i.shape = j.shape GROUP BY i.dataset, i.side"
    ):
        key = spelling[dataset_id], side
        last[key] = max(last.get(key, moment), moment)
    expected = {
        (name, moment, last.get((name, 0))) for (name, side), moment in last.items() if side == 1 and last.get((name, 0), 0) < T0 + 20
    }
    assert {(named(touched.dataset), touched.written, touched.read) for touched in found.unused} == expected
    assert any(touched.read for touched in found.unused)


def test_an_empty_graph_is_measured(spark: SparkSession, tmp_path: Path) -> None:
    with opened() as writer:
        found = measured(spark, writer, tmp_path, 0)
    assert found == Analysis((), (), (), (), 0, exact=True)


def test_findings_are_read_by_part_and_page(tmp_path: Path) -> None:
    a, b = (Node(n, NodeKind.DATASET, "ns", name) for n, name in enumerate("ab"))
    found = Analysis((NodeMeasure(a, 1, 0, 0), NodeMeasure(b, 3, 1, 2)), ((a, b),), (a,), (LastUse(b, T0, None),), 4, exact=False)
    path = tmp_path / "analysis.ndjson"
    with pytest.raises(NotFoundError):
        Findings(path)
    write_findings(path, found, {("log", 0): 7}, T0 + DAY_US, 30)
    kept = Findings(path)
    assert (kept.summary.position, kept.summary.exact, kept.summary.nodes) == ({"log/0": 7}, False, 2)
    assert [json.loads(line)["name"] for line in kept.lines("impact", 10, 0)] == ["b", "a"]
    assert [json.loads(line)["name"] for line in kept.lines("impact", 1, 1)] == ["a"]
    assert kept.lines("impact", 5, 2) == []
    assert list(kept.every("impact")) == kept.lines("impact", 10, 0)
    assert json.loads(kept.lines("cycle", 5, 0)[0])["nodes"][1]["name"] == "b"
    assert "last_read" not in json.loads(kept.lines("unused", 5, 0)[0])
    assert {file.name for file in tmp_path.iterdir()} == {"analysis.ndjson"}


def test_ended_flows_are_not_followed_and_renames_are() -> None:
    dropped, renamed = (
        facet(lifecycleStateChange="DROP"),
        facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "ns", "name": "b"}),
    )
    events = [
        run_event(inputs=[dataset("a")], outputs=[dataset("b"), dataset("gone")]),
        dataset_event(dataset("gone", lifecycleStateChange=dropped), T0 + 1),
        dataset_event(dataset("later", lifecycleStateChange=renamed), T0 + 1),
    ]
    with opened() as writer:
        apply(writer, records_of(events))
        names = dict(execute(writer, "SELECT id, name FROM node"))
        flows = {(names[source], names[target]) for source, target in reader_of(writer).whole.tables().rows(GraphTable.FLOW)}
        assert flows == {("a", "b"), ("b", "later")}
