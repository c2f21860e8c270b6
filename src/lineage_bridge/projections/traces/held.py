"""Where the values of a traced column are now, or were at the time of the question: the datasets that hold them, and those that do not."""

from dataclasses import dataclass

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.lineage import Arrival, Trace
from lineage_bridge.ports.graph_reader import GraphReader


@dataclass(frozen=True)
class Held:
    """A dataset of a trace. `fields`: the columns that hold the values as they were, sorted; an empty text is one that nobody names.
    `left_out`: why the dataset does not hold the values (`dropped`, `masked`, `indirect`); empty if it does. `last_written`: UTC
    microseconds; None if not known.
    """

    node: Node
    fields: tuple[str, ...]
    left_out: str
    last_written: int | None


def read_held(graph: GraphReader, trace: Trace, at_us: int | None) -> list[Held]:
    """Each dataset among the columns of a trace once, sorted by name. As of an earlier time, a dataset that was written since has no
    `last_written`.
    """
    clear: dict[Node, set[str]] = {}
    best: dict[Node, Arrival] = {}
    for column in trace.columns:
        if column.node.kind is NodeKind.DATASET:
            best[column.node] = min(best.get(column.node, Arrival.INDIRECT), column.arrival)
            clear.setdefault(column.node, set()).update({column.field} if column.arrival is Arrival.CLEAR else ())
    entries = graph.inventory.described(best)
    found = []
    for node in sorted(best, key=lambda node: (node.namespace, node.name)):
        written = entries[node.id].last_written if node.id in entries else None
        known = written if written is not None and (at_us is None or written <= at_us) else None
        left_out = "dropped" if node.id in trace.dropped else "" if best[node] is Arrival.CLEAR else best[node].name.lower()
        found.append(Held(node, () if left_out else tuple(sorted(clear[node])), left_out, known))
    return found
