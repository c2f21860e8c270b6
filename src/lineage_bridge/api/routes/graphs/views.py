"""Views: the one graph as OpenLineage events, each of which this server, and any other receiver of OpenLineage, takes by itself."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Response
from msgspec import UNSET, Raw

from lineage_bridge.api import serialization
from lineage_bridge.api.dependencies import KINDS, Mended, Style
from lineage_bridge.api.openapi import answers
from lineage_bridge.api.question_route import question_router
from lineage_bridge.api.routes.graphs.graph_nodes import columns_of
from lineage_bridge.api.routes.graphs.whole_graph import array, stream
from lineage_bridge.api.schemas.answers import RunRef
from lineage_bridge.api.schemas.graphs import View, ViewDataset, ViewEvent, ViewJob
from lineage_bridge.api.services import Services
from lineage_bridge.graph.identity.node_ids import CONFLUENT, system_of
from lineage_bridge.graph.identity.steps import BRIDGE
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.state import UNKNOWN
from lineage_bridge.model.graph import Node
from lineage_bridge.model.inventory import Entry
from lineage_bridge.model.runs import RunRecord
from lineage_bridge.openlineage.event_builder import SPECIFICATION
from lineage_bridge.openlineage.facets import Where, inspect
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.openlineage.verdict import EVENT_TYPES
from lineage_bridge.ports.graph_reader import GraphReader

_LINEAGE = ("columnLineage", "lineage")
_ENCODER = msgspec.json.Encoder()
Systems = Annotated[
    str | None,
    Query(description="Comma-separated: only jobs that are in one of these systems, or read or write a dataset in one. Without it, all"),
    Mended,
]


def routes(services: Services) -> APIRouter:
    """The calls for views."""
    router = question_router(services, "graphs", "/graphs")

    @router.get("/confluent/view", response_model=None, responses=answers({200: View}, writes=False))
    def get_confluent_view(names: Style = "lineagebridge") -> Response:
        """The jobs of Confluent Cloud with all they read and write, as OpenLineage events."""
        return _view(services, "confluent", None, names)

    @router.get("/enriched/view", response_model=None, responses=answers({200: View}, writes=False))
    def get_enriched_view(systems: Systems = None, names: Style = "lineagebridge") -> Response:
        """All jobs with what they read and write, or those that have to do with some systems, as OpenLineage events."""
        words = [word for part in (systems or "").split(",") if (word := part.strip().lower())]
        return _view(services, "enriched", words or None, names)

    return router


def _view(services: Services, name: str, systems: list[str] | None, style: str) -> Response:
    def meant(job: str, datasets: Iterable[str]) -> bool:
        """Whether an event of a job and its datasets, by their namespaces, is asked for."""
        if name == CONFLUENT:
            return system_of(job) == CONFLUENT
        return systems is None or any(_is_in(space, systems) for space in (job, *datasets))

    def tell(reader: GraphReader) -> Iterator[bytes]:
        yield _ENCODER.encode({"view": name, "systems": systems})[:-1] + b","
        yield from array("events", run_events(reader, services.clock_us(), style, meant))
        yield b","
        yield from array("statements", statements(reader, services.clock_us(), style, meant))
        yield b"}"

    return stream(services, tell)


def _is_in(namespace: str, systems: Collection[str]) -> bool:
    """Whether a namespace belongs to one of these systems, or has one of these schemes."""
    return system_of(namespace) in systems or namespace.partition("://")[0].lower() in systems


Meant = Callable[[str, Iterable[str]], bool]


def run_events(reader: GraphReader, now_us: int, style: str, meant: Meant) -> Iterator[ViewEvent]:
    """One RunEvent for each job that ran, by its newest run that named a dataset, in the order of the jobs' names."""
    for known, jobs in reader.inventory.heads((NodeKind.JOB,)):
        ran = known.inventory.ran(jobs)
        records = _newest_runs(known, ran, now_us)
        entries = [entry for entry in known.inventory.entries(ran) if entry.node.id in records]
        teller = _Teller(known, style, entries, (node for record in records.values() for node in (*record.inputs, *record.outputs)))
        for entry in entries:
            record = records[entry.node.id]
            if meant(entry.named.namespace, teller.spaces((*record.inputs, *record.outputs))):
                yield teller.run_event(entry, record)


def _newest_runs(reader: GraphReader, jobs: Sequence[Node], now_us: int) -> dict[int, RunRecord]:
    """Node id to the newest run that named a dataset; where none did, to the newest, with what is known of the job."""
    found = reader.runs.latest_of(jobs, with_datasets=True)
    # A statement, which has no events of a run, stands in for a run that named datasets.
    rest = [job for job in jobs if job.id not in found or (found[job.id].state == UNKNOWN and not reader.runs.find(found[job.id].run_id))]
    for job_id, newest in reader.runs.latest_of(rest, with_datasets=False).items():
        inputs, outputs = _declared(reader, next(job for job in rest if job.id == job_id), now_us)
        found[job_id] = replace(newest, inputs=inputs, outputs=outputs)
    return found


def _declared(reader: GraphReader, job: Node, now_us: int) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """What is known of a job's inputs and outputs."""
    ports = reader.inventory.ports([job], now_us=now_us)
    inputs, outputs = (tuple(port.dataset for port in ports if port.side == side) for side in (Side.INPUT, Side.OUTPUT))
    return inputs, outputs


def statements(reader: GraphReader, now_us: int, style: str, meant: Meant) -> Iterator[ViewEvent]:
    """JobEvents of jobs that were declared and never ran; DatasetEvents of datasets that no job names, or that tell their own lineage."""
    for known, nodes in reader.inventory.quiet():
        entries = known.inventory.entries(nodes)
        jobs = {entry.node.id: _declared(known, entry.node, now_us) for entry in entries if entry.node.kind == NodeKind.JOB}
        teller = _Teller(known, style, entries, (node for sides in jobs.values() for side in sides for node in side))
        for entry in entries:
            inputs, outputs = jobs.get(entry.node.id, ((), ()))
            if not meant(entry.named.namespace, teller.spaces((*inputs, *outputs))):
                continue
            yield teller.job_event(entry, inputs, outputs) if entry.node.id in jobs else teller.dataset_event(entry)


class _Teller:
    """Tells of jobs and datasets under the names they go by, with what is said of them."""

    def __init__(self, reader: GraphReader, style: str, entries: Iterable[Entry], datasets: Iterable[Node]) -> None:
        self.reader, self.style = reader, style
        met = {node.id: node for node in datasets}
        self.heads = reader.inventory.standing(met.values())
        every = {head.id: head for head in self.heads.values()}
        known = {entry.node.id: entry for entry in entries}
        self.entries = known | {
            entry.node.id: entry for entry in reader.inventory.entries([n for n in every.values() if n.id not in known])
        }
        here = {entry.node.id: entry.named for entry in self.entries.values()}
        self.names = here if style == BRIDGE else reader.nodes.spelt((entry.node for entry in self.entries.values()), style)

    def spaces(self, datasets: Iterable[Node]) -> Iterator[str]:
        """The namespaces of datasets, as LineageBridge writes them."""
        return (self.entries[self.heads[node.id].id].named.namespace for node in datasets)

    # events

    def run_event(self, entry: Entry, record: RunRecord) -> ViewEvent:
        """The event that sums up a job by a run."""
        return ViewEvent(
            event_time=format_time(record.ended if record.ended is not None else record.last),
            producer=serialization.PRODUCER,
            schema_url=SPECIFICATION + "RunEvent",
            event_type=record.state if record.state in EVENT_TYPES else UNSET,
            run=RunRef(record.run_id),
            job=self.job(entry),
            inputs=self.inputs(record.inputs),
            outputs=self.outputs(record.outputs, entry),
        )

    def job_event(self, entry: Entry, inputs: Iterable[Node], outputs: Iterable[Node]) -> ViewEvent:
        """The event that says what a job is declared to do."""
        return ViewEvent(
            event_time=format_time(entry.first if entry.last is None else entry.last),
            producer=serialization.PRODUCER,
            schema_url=SPECIFICATION + "JobEvent",
            job=self.job(entry),
            inputs=self.inputs(inputs),
            outputs=self.outputs(outputs, entry),
        )

    def dataset_event(self, entry: Entry) -> ViewEvent:
        """The event that says what a dataset is."""
        name = self.names[entry.node.id]
        return ViewEvent(
            event_time=format_time(entry.first if entry.last is None else entry.last),
            producer=serialization.PRODUCER,
            schema_url=SPECIFICATION + "DatasetEvent",
            dataset=ViewDataset(name.namespace, name.name, self.facets("dataset", entry.facets)),
        )

    # what they speak of

    def job(self, entry: Entry) -> ViewJob:
        """A job with its facets, its explicit lineage among them."""
        name = self.names[entry.node.id]
        return ViewJob(name.namespace, name.name, self.facets("job", entry.facets))

    def inputs(self, nodes: Iterable[Node]) -> list[ViewDataset]:
        """Datasets that are read, in the order of their names."""
        return self._datasets(nodes, lambda _: {})

    def outputs(self, nodes: Iterable[Node], job: Entry) -> list[ViewDataset]:
        """Datasets that a job writes, with what it says of their columns."""

        def columns(dataset: Entry) -> dict[str, str]:
            found = columns_of(self.reader, dataset, job)
            return {"columnLineage": found} if found else {}

        return self._datasets(nodes, columns)

    def _datasets(self, nodes: Iterable[Node], more: Callable[[Entry], Mapping[str, str]]) -> list[ViewDataset]:
        found = {}
        for node in nodes:
            entry = self.entries[self.heads[node.id].id]
            name = self.names[entry.node.id]
            said = {key: text for key, text in entry.facets.items() if key not in _LINEAGE} | dict(more(entry))
            found[name.namespace, name.name] = ViewDataset(name.namespace, name.name, self.facets("dataset", said))
        return [found[key] for key in sorted(found)]

    def facets(self, where: Where, said: Mapping[str, str]) -> dict[str, Raw] | msgspec.UnsetType:
        """Facets that any receiver reads: whole, of the right shape, and with the same names as the event."""
        kept = {key: self._sound(where, key, text) for key, text in sorted(said.items())}
        return {key: Raw(text) for key, text in kept.items() if text} or UNSET

    def _sound(self, where: Where, key: str, text: str) -> bytes:
        """A facet's text; empty for one that cannot be read."""
        problems = inspect(where, key, text.encode()).problems
        if "facet_shape" in problems:
            return b""
        if not problems and key not in _LINEAGE:
            return text.encode()
        value = msgspec.json.decode(text)
        if problems:
            value |= {"_producer": serialization.PRODUCER, "_schemaURL": SPECIFICATION + "BaseFacet"}
        return _ENCODER.encode(self._renamed(value) if key in _LINEAGE else value)

    def _renamed(self, value: Any) -> Any:  # noqa: ANN401 - a JSON edge
        """The same with every dataset and job in it under the name it goes by."""
        if isinstance(value, list):
            return [self._renamed(element) for element in value]
        if not isinstance(value, dict):
            return value
        told = {key: self._renamed(member) for key, member in value.items()}
        namespace, name = told.get("namespace"), told.get("name")
        if isinstance(namespace, str) and isinstance(name, str):
            node = self.reader.nodes.by_spelling(KINDS.get(str(told.get("type", "")).lower(), NodeKind.DATASET), namespace, name)
            spelt = self.reader.nodes.spelt([node], self.style)[node.id] if node else None
            told |= {"namespace": spelt.namespace, "name": spelt.name} if spelt else {}
        return told
