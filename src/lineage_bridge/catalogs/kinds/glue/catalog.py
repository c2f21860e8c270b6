"""What a Data Catalog knows of its tables, as events: everything but what LineageBridge wrote there. Pure."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from lineage_bridge.catalogs.events import digest_of
from lineage_bridge.catalogs.kinds.glue.definitions import own_descriptions
from lineage_bridge.catalogs.kinds.glue.settings import GlueSettings
from lineage_bridge.catalogs.kinds.glue.tables import PREFIX, GlueTable, key_of_table
from lineage_bridge.catalogs.target import CatalogEntry, Json
from lineage_bridge.openlineage.event_builder import EventBuilder
from lineage_bridge.openlineage.secret_rules.names import holds_secret

_OUT: Final = EventBuilder("https://lineagebridge.dev/enrichment/glue")
LONGEST_TAG, MOST_TAGS = 256, 100
"""The longest parameter, in characters, and the most parameters that become tags of a table."""
_TECHNICAL: Final = frozenset(
    (
        "averageRecordSize",
        "compressionType",
        "current-schema",
        "current-snapshot-id",
        "current-snapshot-summary",
        "current-snapshot-timestamp-ms",
        "last_modified_by",
        "last_modified_time",
        "metadata_location",
        "numFiles",
        "numPartitions",
        "numRows",
        "objectCount",
        "previous_metadata_location",
        "rawDataSize",
        "recordCount",
        "sizeKey",
        "snapshot-count",
        "totalSize",
        "transient_lastDdlTime",
        "uuid",
    )
)
"""Parameters that engines change at each write, or that describe files."""
_TECHNICAL_PREFIXES: Final = (
    PREFIX,
    "CrawlerSchema",
    "UPDATED_BY_CRAWLER",
    "partition_filtering.",
    "projection.",
    "spark.sql.",
    "storage.",
)


def is_link(found: Mapping[str, Any]) -> bool:
    """Whether a database or table is only a link to one of another catalog, or is there in a federated catalog."""
    return any(found.get(member) for member in ("TargetDatabase", "TargetTable", "FederatedDatabase", "FederatedTable"))


def entry_of(table: Mapping[str, Any], database: str, settings: GlueSettings, now_us: int) -> CatalogEntry:
    """The event of a table as GetTables answers it."""
    named = GlueTable(database.lower(), str(table["Name"]).lower())
    key = key_of_table(named, settings)
    return CatalogEntry(key.name, _OUT.dataset_event(now_us, (key.namespace, key.name), dict(_facets(table, named, settings))))


def _facets(table: Mapping[str, Any], named: GlueTable, settings: GlueSettings) -> Iterator[tuple[str, Json]]:
    own = own_descriptions(table)
    yield "datasetType", _OUT.dataset_type("VIEW" if table.get("TableType") == "VIRTUAL_VIEW" else "TABLE")
    storage = table.get("StorageDescriptor") or {}
    columns = [_column(column, own) for column in (*(storage.get("Columns") or ()), *(table.get("PartitionKeys") or ()))]
    if columns:
        yield "schema", _OUT.schema(columns)
    if described := _foreign(str(table.get("Description") or ""), own.get("")):
        yield "documentation", _OUT.documentation("Dataset", described)
    if owner := table.get("Owner"):
        yield "ownership", _OUT.ownership("Dataset", str(owner))
    if tags := _tags(table.get("Parameters") or {}):
        yield "tags", _OUT.dataset_tags(tags)
    others = sorted(namespace for namespace, database in settings.databases.items() if database.lower() == named.database)
    if others:
        yield "symlinks", _OUT.symlinks([(namespace, named.name) for namespace in others], "TABLE")


def _column(column: Mapping[str, Any], own: Mapping[str, str]) -> Json:
    name = str(column.get("Name", ""))
    described = _foreign(str(column.get("Comment") or ""), own.get(name.lower()))
    members = {"name": name, "type": column.get("Type"), "description": described}
    return {member: str(value) for member, value in members.items() if value}


def _foreign(text: str, mark: str | None) -> str:
    """A description, unless LineageBridge wrote it."""
    return "" if not text or digest_of(text) == mark else text


def _tags(parameters: Mapping[str, Any]) -> list[Json]:
    """The parameters that people set, as tags, without secrets."""
    texts = ((name, str(value)) for name, value in sorted(parameters.items()))
    found = ({"key": name, "value": value, "source": "AWS Glue"} for name, value in texts if _is_tag(name, value))
    return list(islice(found, MOST_TAGS))


def _is_tag(name: str, value: str) -> bool:
    is_technical = name in _TECHNICAL or name.startswith(_TECHNICAL_PREFIXES)
    return not is_technical and 0 < len(value) <= LONGEST_TAG and not holds_secret(name, value)
