"""Converts the present graph to OpenLineage events: one for each job, and one for each dataset that no job's event describes completely.

A view summarizes a job by its newest run; these events state everything that the job reads and writes in the graph.
"""

from collections.abc import Callable, Iterator, Sequence

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.event_shapes import ViewEvent
from lineage_bridge.projections.views import ViewEventBuilder

StateFilter = Callable[[InventoryEntry, Sequence[InventoryEntry]], bool]
"""Returns whether a job or dataset is selected, given it and the other datasets that its event names."""


LeftOut = Callable[[Node], None]
"""Called with each job or dataset that is not selected, under its name in the style of the events."""


def state_events(graph: GraphReader, now_us: int, style: str, includes: StateFilter, left_out: LeftOut) -> Iterator[ViewEvent]:
    """JobEvents of all jobs, then DatasetEvents of datasets that no job names or that declare their own lineage; each by name."""
    for reader, jobs in graph.inventory.heads((NodeKind.JOB,)):
        yield from _job_events(reader, jobs, now_us, style, includes, left_out)
    for reader, nodes in graph.inventory.quiet():
        entries = reader.inventory.entries([node for node in nodes if node.kind == NodeKind.DATASET])
        builder = ViewEventBuilder(reader, style, entries, ())
        for entry in entries:
            if includes(entry, ()):
                yield builder.dataset_event(entry)
            else:
                left_out(builder.names[entry.node.id])


def _job_events(
    reader: GraphReader, jobs: Sequence[Node], now_us: int, style: str, includes: StateFilter, left_out: LeftOut
) -> Iterator[ViewEvent]:
    entries = reader.inventory.entries(jobs)
    heads = {member.id: entry.node.id for entry in entries for member in entry.members}
    sides: dict[tuple[int, Side], list[Node]] = {}
    for port in reader.inventory.ports(jobs, now_us=now_us):
        sides.setdefault((heads[port.job.id], port.side), []).append(port.dataset)
    builder = ViewEventBuilder(reader, style, entries, (node for nodes in sides.values() for node in nodes))
    for entry in entries:
        inputs, outputs = (sides.get((entry.node.id, side), []) for side in (Side.INPUT, Side.OUTPUT))
        if includes(entry, [builder.entries[builder.heads[node.id].id] for node in (*inputs, *outputs)]):
            yield builder.job_event(entry, inputs, outputs)
        else:
            left_out(builder.names[entry.node.id])
