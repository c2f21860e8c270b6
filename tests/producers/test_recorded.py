"""The recorded events of every producer that `make producers` runs make the graph that was written by hand."""

import json
import re
from pathlib import Path

import pytest
from tests.events import KEY, records_of
from tests.producers.__main__ import PRODUCERS
from tests.producers.graphs import EXPECTED, LINES, Expected, Graph, difference, expected_graph, exported_graph
from tests.producers.trial import SAMPLES, sample
from tests.store.reading import reader_of

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.write.apply import GraphWriter

MACHINE = re.compile(r"/(?:root|tmp|home)/|password=(?!\*)", re.IGNORECASE)


def folded(events: list[bytes], path: Path, expected: Expected) -> Graph:
    """The graph of events, as one store has it when the last of them has arrived."""
    times = [parsed.us for event in events if (parsed := parse_time(json.loads(event)["eventTime"]))]
    writer = GraphWriter(path, Names(KEY))
    try:
        rows = dict(flat(fold_records(records_of(events, arrival=max(times)), Names(KEY))))
        assert not rows.get("quarantine")
        writer.apply(Batch({}, rows), Budget(10**9))
        return exported_graph(reader_of(writer).whole.lines(frozenset(LINES), now_us=max(times)), expected)
    finally:
        writer.close()


@pytest.mark.parametrize("producer", PRODUCERS)
def test_recorded_events_make_the_expected_graph(producer: str, tmp_path: Path) -> None:
    expected = expected_graph(producer)
    found = folded(sample(producer).read_bytes().splitlines(), tmp_path / "graph.db", expected)
    assert difference(expected.graph, found) == ""


@pytest.mark.parametrize("producer", PRODUCERS)
def test_nothing_is_recorded_of_one_machine(producer: str) -> None:
    assert MACHINE.findall(sample(producer).read_text(encoding="utf-8")) == []


def test_every_producer_has_an_expectation_and_a_sample() -> None:
    assert {file.stem for file in EXPECTED.glob("*.yaml")} == set(PRODUCERS)
    assert {file.name for file in SAMPLES.rglob("recorded-*")} == {sample(producer).name for producer in PRODUCERS}


def test_a_missing_flow_and_a_surplus_dataset_are_seen(tmp_path: Path) -> None:
    expected = expected_graph("python")
    expected.graph["jobs"]["sales http"]["flows"].pop()
    expected.graph["datasets"].append("http another")
    found = folded(sample("python").read_bytes().splitlines(), tmp_path / "graph.db", expected)
    lines = [line for line in difference(expected.graph, found).splitlines()[2:] if line[0] in "+-"]
    assert [line[0] for line in lines] == ["-", "+"]
