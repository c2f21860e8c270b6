"""Who may read and write datasets, as far as it was observed, and which jobs do; now, or as of an earlier time."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from lineage_bridge.graph.contents.rights import KEY, Rights, read_rights
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node, Walk, WalkLimits
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.pointers.collectors import rights_collector, rights_not_observed
from lineage_bridge.projections.stewardship import newest_facet

MOST_PRINCIPALS: Final = 200
"""How many principals of one list are shown of a dataset."""
MOST_JOBS: Final = 100
"""How many readers, and how many writers, are shown of a dataset."""
_LIMITS: Final = WalkLimits(nodes=500, edges=5_000)


@dataclass(frozen=True)
class Access:
    """Who may read and write a dataset, and which jobs read (`readers`) and write it (`writers`), sorted by name.

    `rights` are None if they are not known; `collector` is then the kind of source that would report them, empty if none does. `others`
    are rights that are not observed where `rights` are (`rights_not_observed`).
    `observed` is when they were last reported, UTC microseconds. `hidden`: the principal of the question may only see the dataset's name.
    `cut`: some principals or jobs are left out.
    """

    node: Node
    rights: Rights | None = None
    observed: int | None = None
    collector: str = ""
    others: tuple[str, ...] = ()
    readers: tuple[Node, ...] = ()
    writers: tuple[Node, ...] = ()
    hidden: bool = False
    cut: bool = False


def read_access(graph: GraphReader, nodes: Iterable[Node], at_us: int | None, *, now_us: int, seconds: float) -> tuple[list[Access], int]:
    """The access to those of the nodes that are datasets, in the order of their names. Stops after `seconds`, between two datasets.
    Returns also how many datasets are left out because of that.
    """
    ends = time.monotonic() + seconds
    datasets = sorted((node for node in set(nodes) if node.kind is NodeKind.DATASET), key=_by_name)
    found: list[Access] = []
    for node in datasets:
        left = ends - time.monotonic()
        if left <= 0:
            break
        found.append(_access(graph, node, at_us, now_us, replace(_LIMITS, seconds=left)))
    return found, len(datasets) - len(found)


def _access(graph: GraphReader, node: Node, at_us: int | None, now_us: int, limits: WalkLimits) -> Access:
    if graph.nodes.find(node.kind, node.namespace, node.name) is None:
        return Access(node, hidden=True)
    entry = newest_facet(graph, node, KEY, at_us)
    rights = read_rights(entry.text) if entry is not None else None
    walk = graph.lineage.walk(node, "both", 1, limits, now_us=now_us, at_us=at_us)
    readers, writers = (_jobs(walk, side) for side in (Side.INPUT, Side.OUTPUT))
    return Access(
        node,
        None if rights is None else _shortened(rights),
        None if rights is None or entry is None else entry.last[0],
        rights_collector(node) if rights is None else "",
        () if rights is None else rights_not_observed(node, ruled=rights.ruled),
        readers[:MOST_JOBS],
        writers[:MOST_JOBS],
        cut=bool(walk.truncated)
        or max(len(readers), len(writers)) > MOST_JOBS
        or (rights is not None and max(map(len, rights.lists)) > MOST_PRINCIPALS),
    )


def _shortened(rights: Rights) -> Rights:
    lists = [some[:MOST_PRINCIPALS] for some in rights.lists]
    shown = {principal for some in lists for principal in some}
    names = {principal: name for principal, name in sorted(rights.names.items()) if principal in shown}
    return Rights(lists[0], lists[1], lists[2], lists[3], names, rights.ruled)


def _jobs(walk: Walk, side: Side) -> tuple[Node, ...]:
    """The jobs that read or write the dataset at which a walk began, each once, sorted by name."""
    named: dict[int, Node] = {node.id: node for node in walk.nodes}
    found = {
        walk.canonical.get(job.id, job.id): job for job in _at(walk, {node.id for node in (walk.origin, *walk.members)}.__contains__, side)
    }
    return tuple(sorted((named.get(id_, job) for id_, job in found.items()), key=_by_name))


def _at(walk: Walk, is_origin: Callable[[int], bool], side: Side) -> Iterator[Node]:
    for port in walk.ports:
        if port.side == side and is_origin(port.dataset.id):
            yield port.job
    for edge in walk.edges:
        end = edge.source if side == Side.INPUT else edge.target
        if edge.job.kind is NodeKind.JOB and is_origin(end.id):
            yield edge.job


def _by_name(node: Node) -> tuple[str, str]:
    return node.namespace, node.name
