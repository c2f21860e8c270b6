"""Maps the columns of streams to the columns of their topics, with column lineage. Pure."""

from collections.abc import Iterable, Mapping

from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.ksqldb.answers import KsqldbRelation
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, topic_column
from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.reading import lineage_of

REGISTERED = 0
"""The rank of schemas from a schema registry."""


def keys_of(relation: KsqldbRelation) -> tuple[SchemaField, ...]:
    """Return the fields in the keys of a stream's topic. A single key column is the whole key, so its field has no name."""
    if len(relation.keys) != 1:
        return relation.keys
    (only,) = relation.keys
    return (SchemaField(name="", type=only.type, fields=only.fields),)


def column(relation: KsqldbRelation, topic: DatasetName, name: str, shared: SharedMetadata) -> str:
    """Return the column of a topic that a column of a stream reads. ksqlDB ignores the case of names; the spelling in the registry is
    returned.
    """
    is_key = any(field.name == name for field in relation.keys)
    schema = shared.schemas.get((topic, KEY if is_key else VALUE))
    known = [field.name for field in schema.fields if field.name] if schema and schema.rank == REGISTERED else []
    path = name if name in known else next((other for other in known if other.casefold() == name.casefold()), "")
    if is_key:
        return topic_column(KEY, path or ("" if len(relation.keys) == 1 else name))
    return topic_column(VALUE, path or name)


def lineage(text: str, relations: Mapping[str, KsqldbRelation]) -> Lineage:
    """Return the lineage of a query's statement. `relations`: all streams and tables."""
    tables: dict[Name, list[str]] = {
        (name,): [field.name for field in (*relation.keys, *relation.values)] for name, relation in relations.items()
    }
    return lineage_of(text, "ksqldb", tables)


def columns_into(
    sink: str, found: Lineage, relations: Mapping[str, KsqldbRelation], topics: Mapping[str, DatasetName], shared: SharedMetadata
) -> tuple[dict[str, list[Json]], list[Json]]:
    """Return the columns of the topic that a query writes, each with its source columns, and the source columns that decide which rows are
    written.
    """
    into: dict[str, list[Json]] = {}
    for flow in sorted(found.columns, key=lambda origin: (origin.out_column, origin.in_table, origin.in_column)):
        source = flow.in_table[-1]
        if flow.out_table[-1] == sink and source in relations:
            field = column(relations[sink], topics[sink], flow.out_column, shared) if sink in relations else flow.out_column
            into.setdefault(field, []).append(_source(source, flow.in_column, "DIRECT", flow.subtype.name, relations, topics, shared))
    deciding: dict[tuple[object, ...], list[Json]] = {}
    for decides in sorted(found.indirect, key=lambda origin: (origin.in_table, origin.in_column, origin.kind)):
        source = decides.in_table[-1]
        if decides.out_table[-1] == sink and source in relations:
            source_column = _source(source, decides.in_column, "INDIRECT", decides.kind, relations, topics, shared)
            deciding.setdefault((source_column["namespace"], source_column["name"], source_column["field"]), []).append(source_column)
    return into, sorted((_merged(ones) for ones in deciding.values()), key=lambda origin: (origin["name"], origin["field"]))


def _source(
    relation: str,
    name: str,
    kind: str,
    subtype: str,
    relations: Mapping[str, KsqldbRelation],
    topics: Mapping[str, DatasetName],
    shared: SharedMetadata,
) -> Json:
    topic = topics[relation]
    field = column(relations[relation], topic, name, shared)
    return {"namespace": topic[0], "name": topic[1], "field": field, "transformations": [{"type": kind, "subtype": subtype}]}


def _merged(ones: Iterable[Json]) -> Json:
    """Merge several entries for one column into a single entry with all their transformations."""
    every = list(ones)
    changes = [change for relation in every for change in relation["transformations"]]
    return {**every[0], "transformations": changes}
