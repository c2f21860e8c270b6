"""Shapes of runs, and the flows that follow from them. A shape is what one run did, regardless of when.

Flows are determined for each run from everything it stated, never across runs. Many runs of a job have the same shape, which is expanded to
flows once. A design-time statement counts as one run.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.graph.statements.lineage_sets import NO_SOURCE, OWN, LineageSet

NO_SHAPE = 0
"""The id of an empty shape: no dataset named and no lineage stated."""
HUB_PAIRS = 1000
"""If co-occurrence gives more pairs than this, they are stored as a hub: inputs and outputs, without the pairs."""


class Shape(NamedTuple):
    """What a run or a design-time statement did: sorted members (side, dataset) and lineage sets (carrier, lineage set id).

    `id` is a signed 64-bit hash of the rest.
    """

    id: int
    origin: int
    members: tuple[tuple[int, int], ...]
    lineage_sets: tuple[tuple[int, bytes], ...]


class Flow(NamedTuple):
    """Data moves from node `source` to node `target`. The id OWN stands for the job that has the shape."""

    source: int
    target: int
    evidence: int


class Hub(NamedTuple):
    """A set of flows that is stored as one: from each of `inputs` to each of `outputs`."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Expansion(NamedTuple):
    """All flows of a shape, single ones and hubs."""

    flows: tuple[Flow, ...]
    hubs: tuple[Hub, ...]


def make_shape(origin: Origin, members: Iterable[tuple[int, int]], statements: Iterable[tuple[int, bytes]]) -> Shape:
    """The shape with these members (side, dataset) and lineage sets (carrier, id). Order and repeats do not matter."""
    what = int(origin), tuple(sorted(set(members))), tuple(sorted(set(statements)))
    return Shape(_shape_id(what) if what[1] or what[2] else NO_SHAPE, *what)


def _shape_id(what: tuple[int, tuple[tuple[int, int], ...], tuple[tuple[int, bytes], ...]]) -> int:
    digest = blake2b(repr(what).encode(), digest_size=8, person=b"shape").digest()
    return int.from_bytes(digest, "big", signed=True) or 1


def expand(shape: Shape, lineage_sets: dict[bytes, LineageSet]) -> Expansion:
    """The flows of a shape: from explicit lineage if there is any, else from column lineage, and from co-occurrence for the rest."""
    inputs = [dataset for side, dataset in shape.members if side == Side.INPUT]
    outputs = [dataset for side, dataset in shape.members if side == Side.OUTPUT]
    stated = [(carrier, lineage_sets[lineage_set]) for carrier, lineage_set in shape.lineage_sets if lineage_set in lineage_sets]
    if any(lineage_set.explicit for _, lineage_set in stated):
        return _explicit(inputs, outputs, [lineage_set for _, lineage_set in stated if lineage_set.explicit])
    return _implied(inputs, outputs, stated, Evidence.STITCHED if shape.origin == Origin.INFERRED else Evidence.CO_OCCURRENCE)


def _explicit(inputs: list[int], outputs: list[int], lineage_sets: list[LineageSet]) -> Expansion:
    statements = [statement for lineage_set in lineage_sets for statement in lineage_set.statements]
    sources = {s.source for s in statements if s.type != NO_SOURCE}
    targets = {s.target for s in statements}
    flows = {Flow(s.source, s.target, int(Evidence.EXPLICIT)) for s in statements if s.type != NO_SOURCE}
    flows |= {Flow(dataset, OWN, int(Evidence.EXPLICIT)) for dataset in inputs if dataset not in sources}
    flows |= {Flow(OWN, dataset, int(Evidence.EXPLICIT)) for dataset in outputs if dataset not in targets}
    return Expansion(tuple(sorted(flow for flow in flows if flow[:2] != (OWN, OWN))), ())


def _implied(inputs: list[int], outputs: list[int], stated: list[tuple[int, LineageSet]], together: Evidence) -> Expansion:
    """The flows that column lineage states, and those between all pairs of the remaining inputs and outputs. Flows between these pairs get
    the evidence `together`.
    """
    evidence = int(together)
    named: dict[int, set[int]] = {}
    for carrier, lineage_set in stated:
        named.setdefault(carrier, set()).update(statement.source for statement in lineage_set.statements)
    mentioned = set().union(*named.values()) if named else set()
    flows = {Flow(source, target, int(Evidence.COLUMN)) for target, sources in named.items() for source in sources}
    products = [
        (inputs, [dataset for dataset in outputs if dataset not in named]),
        (
            [dataset for dataset in inputs if dataset not in mentioned],
            [dataset for dataset in outputs if dataset in named],
        ),
    ]
    products = [(some, others) for some, others in products if some and others]
    if sum(len(some) * len(others) for some, others in products) > HUB_PAIRS:
        return Expansion(tuple(sorted(flows)), tuple(Hub(tuple(some), tuple(others)) for some, others in products))
    flows |= {Flow(a, b, evidence) for some, others in products for a in some for b in others}
    return Expansion(tuple(sorted(flows)), ())
