"""The corpus of quirks as of earlier times, compared with stores of the events by then."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from tests.quirks.disorder import in_order, seeds
from tests.store.corpus import corpus_events, put
from tests.store.reading import read_as_of, reader_of
from tests.store.tables import execute
from tests.store.walks import around, edges, labels, nodes, ports
from tests.store.writing import NAMES, opened

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.lineage import Affected, TraceOptions
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.store.write.apply import GraphWriter

SAMPLED = 25
LIMITS = WalkLimits(nodes=2_000, edges=2_000, seconds=60)


@pytest.fixture(scope="module")
def corpus() -> Iterator[GraphWriter]:
    with opened() as writer:
        put(writer, in_order(corpus_events()), 10**9)
        yield writer


def moments(writer: GraphWriter) -> list[int]:
    """Times of events, and for every other of these the midnight after it; the same ones each time."""
    times = [row[0] for row in execute(writer, "SELECT DISTINCT effective FROM event ORDER BY effective")]
    chosen = random.Random(7).sample(times, len(seeds(10)))
    return [time if index % 2 else time - time % DAY_US + DAY_US for index, time in enumerate(chosen)]


def sampled(then: GraphReader, now: GraphReader, at_us: int) -> list[Node]:
    """Some nodes of a moment, and some of those that are known by several names now."""
    every, choice = list(nodes(then)), random.Random(at_us)
    of_many = [node for node in every if len(now.nodes.group(node)[1]) > 1]
    return [node for some in (every, of_many) for node in choice.sample(some, min(len(some), SAMPLED))]


def unmarked(affected: Iterable[Affected]) -> list[Affected]:
    """What is affected, without the mark of flows that only failed runs state: answers as of a time have none."""
    return sorted((replace(item, only_failed=False) for item in affected), key=lambda item: (item.distance, item.node.id))


@pytest.mark.parametrize("number", seeds(10))
def test_answers_as_of_a_moment_are_those_of_the_events_by_then(corpus: GraphWriter, number: int) -> None:
    at_us = moments(corpus)[number]
    with read_as_of(corpus, NAMES, at_us) as then:
        reader = reader_of(corpus)
        for node in sampled(then, reader, at_us):
            past, oracle = (around(r, node, "both", at, at_us, 3) for r, at in ((reader, at_us), (then, None)))
            assert (edges(past), ports(past), set(past.columns)) == (edges(oracle), ports(oracle), set(oracle.columns))
            assert (past.members, past.canonical, past.distances) == (oracle.members, oracle.canonical, oracle.distances)
            if at_us % DAY_US == 0:
                assert labels(past) == labels(oracle)
            for direction in ("upstream", "downstream"):
                options = TraceOptions("", direction, indirect=True, proofs=False)
                traced, expected_trace = (r.lineage.trace(node, options, LIMITS, at) for r, at in ((reader, at_us), (then, None)))
                assert (traced.flows, traced.columns, traced.coverage) == (
                    expected_trace.flows,
                    expected_trace.columns,
                    expected_trace.coverage,
                )
                impact, expected = (r.lineage.impact([node], direction, 5, LIMITS, at) for r, at in ((reader, at_us), (then, None)))
                assert unmarked(impact.affected) == unmarked(expected.affected)
