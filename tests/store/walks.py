"""Walks over a store that a test writes, now and as of earlier times."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from tests.events import T0, record_lists

from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.model.graph import Node, Walk, WalkLimits
from lineage_bridge.model.lineage import Impact
from lineage_bridge.ports.graph_reader import GraphReader

MIDNIGHT = T0 - T0 % DAY_US
moments = st.sampled_from([T0 - 1, T0, T0 + 500_000, T0 + 1_000_000, T0 + 30_000_000, T0 + 90_000_000, T0 + DAY_US, T0 + 2 * DAY_US - 1])
midnights = st.sampled_from([MIDNIGHT + day * DAY_US for day in (0, 1, 2, 3, 31, 90, 91, 200)])

plain = record_lists(min_size=4)


def nodes(reader: GraphReader) -> Iterator[Node]:
    for kind in NodeKind.DATASET, NodeKind.JOB:
        yield from reader.nodes.matching(kind, None, None, None, 0)


def edges(walk: Walk) -> set[tuple[Any, ...]]:
    return {(e.source.id, e.target.id, e.job.id, e.origin, e.evidence, e.hub) for e in walk.edges}


def ports(walk: Walk) -> set[tuple[Any, ...]]:
    return {(p.job.id, p.dataset.id, p.side, p.origin) for p in walk.ports}


def labels(walk: Walk) -> set[tuple[Any, ...]]:
    found: set[tuple[Any, ...]] = {(e.source.id, e.target.id, e.job.id, e.origin, e.label, e.last) for e in walk.edges}
    return found | {(p.job.id, p.dataset.id, p.side, p.origin, p.label, p.last) for p in walk.ports}


def around(reader: GraphReader, node: Node, direction: str, at_us: int | None, now_us: int, depth: int = 1) -> Walk:
    return reader.lineage.walk(node, direction, depth, WalkLimits(), now_us=now_us, at_us=at_us, columns=True)


def affected(impact: Impact) -> dict[str, tuple[int, int | None, bool]]:
    return {a.node.name: (a.distance, a.paths, a.wholly) for a in impact.affected}
