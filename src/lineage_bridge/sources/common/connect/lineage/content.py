"""Builds the facets of the datasets that a connector reads and writes: schemas, other names, and flows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, schema_fields
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.generation import digest
from lineage_bridge.sources.common.connect.lineage.connection import DATA, Connection, ConnectorFlow
from lineage_bridge.sources.common.connect.transforms.backwards import columns_between, leaves
from lineage_bridge.sources.common.connect.transforms.records import Origins, RecordField
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, topic_column, topic_columns

_OF_REGISTRY = 0
"""The rank of a schema from a registry."""
_REPORTS = frozenset(("dead-letter", "report"))
"""Roles of side topics that receive records of the data."""


@dataclass(frozen=True)
class ConnectorContent:
    """The facets of each dataset of a connector, by the dataset's name, and the entries of its lineage facet. `writes`: the connector
    writes topics.
    """

    inputs: Mapping[DatasetName, Mapping[str, Json]]
    outputs: Mapping[DatasetName, Mapping[str, Json]]
    entries: tuple[Json, ...]
    writes: bool

    @cached_property
    def marks(self) -> Mapping[tuple[bool, DatasetName], tuple[str, str]]:
        """The fingerprints of each dataset's name and facets. A key is a pair: whether the dataset is an input, and its name."""
        sides = ((True, self.inputs), (False, self.outputs))
        return {(side, name): (digest([*name, side]), digest(facets)) for side, named in sides for name, facets in named.items()}

    @cached_property
    def entries_mark(self) -> str:
        """The fingerprint of the lineage facet's entries."""
        return digest(self.entries)


def content_of(
    out: EventBuilder,
    connection: Connection,
    config: Mapping[str, str],
    space: str,
    shared: SharedMetadata,
    links: Mapping[DatasetName, Iterable[DatasetName]],
    *,
    sources: bool = False,
) -> ConnectorContent:
    """Return the facets of a connection's datasets, and its flows.

    `space`: the namespace of its topics. `links`: additional names of external datasets. `sources`: whether external datasets get a
    data source facet.
    """
    topics = {
        (space, use.name): _topic_facets(out, (space, use.name), shared)
        for use in (*connection.topics_in, *connection.topics_out)
        if not use.is_pattern and (use.role == DATA or use.role in _REPORTS)
    }
    outside = {
        named(dataset.dataset, shared): _outside_facets(
            out, named(dataset.dataset, shared), dataset.symlinks, links.get(dataset.dataset, ()), shared
        )
        for dataset in connection.datasets
        if not dataset.synthetic
    }
    for name, facets in outside.items() if sources else ():
        facets["dataSource"] = out.data_source(connection.connector.system or name[0], name[0])
    read = {(space, use.name) for use in connection.topics_in}
    written = {(space, use.name) for use in connection.topics_out}
    inputs = {name: facets for name, facets in topics.items() if name in read}
    outputs = {name: facets for name, facets in topics.items() if name in written}
    side = outside if connection.is_source else {}
    return ConnectorContent(
        {**inputs, **side},
        {**outputs, **({} if connection.is_source else outside)},
        tuple(_entries(connection, config, space, shared, frozenset(outside))),
        connection.is_source,
    )


def basis_of(connection: Connection, config: Mapping[str, str], space: str, shared: SharedMetadata) -> object:
    """Return all values from which the content of a connection is computed. It need not be computed again while they are equal."""
    topics = {(space, use.name) for use in (*connection.topics_in, *connection.topics_out)}
    outside = {named(dataset.dataset, shared) for dataset in connection.datasets}
    schemas = [shared.schemas.get((name, part)) for name in sorted(topics | outside) for part in (KEY, VALUE)]
    return connection, config, space, [(known.servers, known.namespace) for known in shared.clusters], schemas


def named(dataset: DatasetName, shared: SharedMetadata) -> DatasetName:
    """Return the namespace and name of an external dataset. If it is a topic of another known cluster, the namespace is that of the
    cluster.
    """
    namespace, name = dataset
    cluster = shared.cluster(namespace.removeprefix("kafka://")) if namespace.startswith("kafka://") else None
    return (cluster.namespace, name) if cluster else dataset


def _topic_facets(out: EventBuilder, topic: DatasetName, shared: SharedMetadata) -> dict[str, Json]:
    schema = shared.schemas.get((topic, VALUE))
    facets = {"datasetType": out.dataset_type("TOPIC")}
    if schema is not None and schema.fields:
        facets["schema"] = out.schema(schema_fields(topic_columns(shared.fields(topic, KEY), schema.fields)))
    if schema is not None and schema.rank == _OF_REGISTRY and schema.version:
        facets["version"] = out.dataset_version(schema.version)
    return facets


def _outside_facets(
    out: EventBuilder, name: DatasetName, symlinks: Iterable[DatasetName], more: Iterable[DatasetName], shared: SharedMetadata
) -> dict[str, Json]:
    if name[0].startswith("kafka://"):
        return _topic_facets(out, name, shared)
    others = sorted({*symlinks, *more} - {name})
    return {"symlinks": out.symlinks(others, "TABLE")} if others else {}


def _entries(
    connection: Connection, config: Mapping[str, str], space: str, shared: SharedMetadata, outside: frozenset[DatasetName]
) -> list[Json]:
    """Return the entries of the lineage facet, one per target, sorted by target."""
    whole: dict[DatasetName, set[DatasetName]] = {}
    columns: dict[DatasetName, dict[str, list[Json]]] = {}
    for flow in connection.flows:
        other = named(flow.outside, shared) if flow.outside else None
        if other not in outside or flow.is_pattern:
            continue
        ends = (other, (space, flow.topic))
        source, target = ends if connection.is_source else ends[::-1]
        whole.setdefault(target, set()).add(source)
        for field, origins in _columns(connection, flow, config, (space, flow.topic), other, shared).items():
            column = topic_column(*field) if connection.is_source else field.path
            columns.setdefault(target, {}).setdefault(column, []).extend(_sources(connection, source, origins))
    for use in connection.topics_out:
        if use.role in _REPORTS and not use.is_pattern:
            whole[(space, use.name)] = {(space, use.name) for use in connection.topics_in if use.role == DATA and not use.is_pattern}
    return [_entry(target, sorted(whole[target]), columns.get(target, {})) for target in sorted(whole) if whole[target]]


def _columns(
    connection: Connection, flow: ConnectorFlow, config: Mapping[str, str], topic: DatasetName, other: DatasetName, shared: SharedMetadata
) -> dict[RecordField, Origins]:
    """Return the column flows of a connection. They follow from the schema of its topic or, if it copies topics, from that of the other
    topic.
    """
    at = next((name for name in (topic, other) if shared.fields(name)), None)
    if at is None:
        return {}
    return columns_between(connection, flow, leaves(shared.fields(at)), leaves(shared.fields(at, KEY)), config)


def _sources(connection: Connection, source: DatasetName, origins: Origins) -> list[Json]:
    of_topic = not connection.is_source or connection.connector.shape == "record"
    return [
        {
            "type": "DATASET",
            "namespace": source[0],
            "name": source[1],
            "field": topic_column(*origin.field) if of_topic else origin.field.path,
            "transformations": [{"type": "DIRECT", "subtype": origin.subtype, "masking": origin.masking}],
        }
        for origin in sorted(origins)
    ]


def _entry(target: DatasetName, sources: Iterable[DatasetName], columns: Mapping[str, list[Json]]) -> Json:
    entry: Json = {
        "type": "DATASET",
        "namespace": target[0],
        "name": target[1],
        "inputs": [{"type": "DATASET", "namespace": namespace, "name": name} for namespace, name in sources],
    }
    if columns:
        entry["fields"] = {column: {"inputs": sources} for column, sources in sorted(columns.items())}
    return entry
