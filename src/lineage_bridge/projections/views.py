"""Makes views: the graph as OpenLineage events. A receiver can understand each event without the others."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from lineage_bridge.graph.identity.steps import BRIDGE
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.state import UNKNOWN
from lineage_bridge.model.graph import Node
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.model.runs import RunRecord
from lineage_bridge.openlineage.event_builder import SPECIFICATION
from lineage_bridge.openlineage.facets import Where, inspect
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.openlineage.verdict import EVENT_TYPES
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.edges import column_lineage
from lineage_bridge.projections.event_shapes import RunRef, ViewDataset, ViewEvent, ViewJob

PRODUCER = "https://lineagebridge.dev/api"
_LINEAGE = ("columnLineage", "lineage")
_ENCODER = msgspec.json.Encoder()

ViewFilter = Callable[[str, Iterable[str]], bool]
"""Returns whether a view includes a job, given the namespaces of the job and of its datasets."""


def run_events(graph: GraphReader, now_us: int, style: str, includes: ViewFilter) -> Iterator[ViewEvent]:
    """Yield a RunEvent for each job that ran, by its newest run that named a dataset, in the order of the jobs' names."""
    for reader, jobs in graph.inventory.heads((NodeKind.JOB,)):
        ran = reader.inventory.ran(jobs)
        records = _newest_runs(reader, ran, now_us)
        entries = [entry for entry in reader.inventory.entries(ran) if entry.node.id in records]
        builder = ViewEventBuilder(
            reader, style, entries, (node for record in records.values() for node in (*record.inputs, *record.outputs))
        )
        for entry in entries:
            record = records[entry.node.id]
            if includes(entry.named.namespace, builder.namespaces((*record.inputs, *record.outputs))):
                yield builder.run_event(entry, record)


def _newest_runs(reader: GraphReader, jobs: Sequence[Node], now_us: int) -> dict[int, RunRecord]:
    """For each job, by id, the newest run that named a dataset. If no run did, the newest run, with the inputs and outputs that the job
    declares.
    """
    newest_runs = reader.runs.latest_of(jobs, with_datasets=True)
    # The newest "run" that named datasets may be a design-time statement, which has no run events.
    rest = [job for job in jobs if job.id not in newest_runs or _is_statement(reader, newest_runs[job.id])]
    for job_id, newest in reader.runs.latest_of(rest, with_datasets=False).items():
        inputs, outputs = _declared_datasets(reader, next(job for job in rest if job.id == job_id), now_us)
        newest_runs[job_id] = replace(newest, inputs=inputs, outputs=outputs)
    return newest_runs


def _is_statement(reader: GraphReader, record: RunRecord) -> bool:
    return record.state == UNKNOWN and not reader.runs.find(record.run_id)


def _declared_datasets(reader: GraphReader, job: Node, now_us: int) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The inputs and outputs of a job that never ran, as the graph has them."""
    ports = reader.inventory.ports([job], now_us=now_us)
    inputs, outputs = (tuple(port.dataset for port in ports if port.side == side) for side in (Side.INPUT, Side.OUTPUT))
    return inputs, outputs


def statement_events(graph: GraphReader, now_us: int, style: str, includes: ViewFilter) -> Iterator[ViewEvent]:
    """JobEvents of jobs that never ran; DatasetEvents of datasets that no job names, or that declare their own lineage."""
    for reader, nodes in graph.inventory.quiet():
        entries = reader.inventory.entries(nodes)
        jobs = {entry.node.id: _declared_datasets(reader, entry.node, now_us) for entry in entries if entry.node.kind == NodeKind.JOB}
        builder = ViewEventBuilder(reader, style, entries, (node for sides in jobs.values() for side in sides for node in side))
        for entry in entries:
            inputs, outputs = jobs.get(entry.node.id, ((), ()))
            if not includes(entry.named.namespace, builder.namespaces((*inputs, *outputs))):
                continue
            yield builder.job_event(entry, inputs, outputs) if entry.node.id in jobs else builder.dataset_event(entry)


class ViewEventBuilder:
    """Makes events of jobs and datasets under the names of a style, with their current facets."""

    def __init__(self, reader: GraphReader, style: str, entries: Iterable[InventoryEntry], datasets: Iterable[Node]) -> None:
        self.reader, self.style = reader, style
        self.heads = reader.inventory.canonical_nodes({node.id: node for node in datasets}.values())
        every = {head.id: head for head in self.heads.values()}
        given = {entry.node.id: entry for entry in entries}
        self.entries = given | {
            entry.node.id: entry for entry in reader.inventory.entries([n for n in every.values() if n.id not in given])
        }
        bridge_names = {entry.node.id: entry.named for entry in self.entries.values()}
        self.names = bridge_names if style == BRIDGE else reader.nodes.spelt((entry.node for entry in self.entries.values()), style)

    def namespaces(self, datasets: Iterable[Node]) -> Iterator[str]:
        """The namespaces of datasets, as LineageBridge writes them."""
        return (self.entries[self.heads[node.id].id].named.namespace for node in datasets)

    # events

    def run_event(self, entry: InventoryEntry, record: RunRecord) -> ViewEvent:
        """The event that summarizes a job by a run."""
        return ViewEvent(
            event_time=format_time(record.ended if record.ended is not None else record.last),
            producer=PRODUCER,
            schema_url=SPECIFICATION + "RunEvent",
            event_type=record.state if record.state in EVENT_TYPES else UNSET,
            run=RunRef(record.run_id),
            job=self.job(entry),
            inputs=self.inputs(record.inputs),
            outputs=self.outputs(record.outputs, entry),
        )

    def job_event(self, entry: InventoryEntry, inputs: Iterable[Node], outputs: Iterable[Node]) -> ViewEvent:
        """The event that declares a job's inputs and outputs."""
        return ViewEvent(
            event_time=_stated_at(entry),
            producer=PRODUCER,
            schema_url=SPECIFICATION + "JobEvent",
            job=self.job(entry),
            inputs=self.inputs(inputs),
            outputs=self.outputs(outputs, entry),
        )

    def dataset_event(self, entry: InventoryEntry) -> ViewEvent:
        """The event that describes a dataset."""
        name = self.names[entry.node.id]
        return ViewEvent(
            event_time=_stated_at(entry),
            producer=PRODUCER,
            schema_url=SPECIFICATION + "DatasetEvent",
            dataset=ViewDataset(name.namespace, name.name, self.facets("dataset", entry.facets)),
        )

    # their jobs and datasets

    def job(self, entry: InventoryEntry) -> ViewJob:
        """A job with its facets, including explicit lineage."""
        name = self.names[entry.node.id]
        return ViewJob(name.namespace, name.name, self.facets("job", entry.facets))

    def inputs(self, nodes: Iterable[Node]) -> list[ViewDataset]:
        """The datasets that a job reads, as inputs of an event, in the order of their names."""
        return self._datasets(nodes, lambda _: {})

    def outputs(self, nodes: Iterable[Node], job: InventoryEntry) -> list[ViewDataset]:
        """The datasets that a job writes, as outputs of an event, in the order of their names, with the job's statements about columns."""

        def columns(dataset: InventoryEntry) -> dict[str, str]:
            text = column_lineage(self.reader, dataset, job)
            return {"columnLineage": text} if text else {}

        return self._datasets(nodes, columns)

    def _datasets(self, nodes: Iterable[Node], more_facets: Callable[[InventoryEntry], Mapping[str, str]]) -> list[ViewDataset]:
        datasets = {}
        for node in nodes:
            entry = self.entries[self.heads[node.id].id]
            name = self.names[entry.node.id]
            facets = {key: text for key, text in entry.facets.items() if key not in _LINEAGE} | dict(more_facets(entry))
            datasets[name.namespace, name.name] = ViewDataset(name.namespace, name.name, self.facets("dataset", facets))
        return [datasets[key] for key in sorted(datasets)]

    def facets(self, where: Where, texts: Mapping[str, str]) -> dict[str, Raw] | msgspec.UnsetType:
        """Facets that any receiver can read: complete, valid, and with the names that the event uses."""
        kept = {key: self._valid(where, key, text) for key, text in sorted(texts.items())}
        return {key: Raw(text) for key, text in kept.items() if text} or UNSET

    def _valid(self, where: Where, key: str, text: str) -> bytes:
        """The text of a facet after correcting it, so that it is valid; empty if the facet cannot be read."""
        seen = inspect(where, key, text.encode())
        problems = seen.problems
        if "facet_shape" in problems:
            return b""
        if not problems and key not in _LINEAGE:
            return text.encode()
        value = _without_nulls(msgspec.to_builtins(seen.facet)) if seen.lost else msgspec.json.decode(text)
        if problems:
            value |= {"_producer": PRODUCER, "_schemaURL": SPECIFICATION + "BaseFacet"}
        return _ENCODER.encode(self._renamed(value) if key in _LINEAGE else value)

    def _renamed(self, value: Any) -> Any:  # noqa: ANN401 - a JSON edge
        """A JSON value in which every dataset and job has its name in the view's style."""
        if isinstance(value, list):
            return [self._renamed(element) for element in value]
        if not isinstance(value, dict):
            return value
        renamed = {key: self._renamed(member) for key, member in value.items()}
        namespace, name = renamed.get("namespace"), renamed.get("name")
        if isinstance(namespace, str) and isinstance(name, str):
            node = self.reader.nodes.by_spelling(
                NodeKind.JOB if str(renamed.get("type", "")).lower() == "job" else NodeKind.DATASET, namespace, name
            )
            spelt = self.reader.nodes.spelt([node], self.style)[node.id] if node else None
            renamed |= {"namespace": spelt.namespace, "name": spelt.name} if spelt else {}
        return renamed


def _stated_at(entry: InventoryEntry) -> str:
    """The time of the last statement about a job or dataset, but not earlier than its first mention."""
    return format_time(entry.last if entry.last is not None else entry.first or 0)


def _without_nulls(value: Any) -> Any:  # noqa: ANN401 - a JSON edge
    """A JSON value without members that are null."""
    if isinstance(value, list | tuple):
        return [_without_nulls(element) for element in value]
    if isinstance(value, dict):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    return value
