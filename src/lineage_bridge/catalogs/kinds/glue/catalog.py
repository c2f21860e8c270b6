"""What a Data Catalog has about a table: everything but what LineageBridge wrote there. Pure."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from lineage_bridge.catalogs.events import digest_of
from lineage_bridge.catalogs.kinds.glue.definitions import own_descriptions
from lineage_bridge.catalogs.kinds.glue.tables import PREFIX
from lineage_bridge.catalogs.target import Json
from lineage_bridge.conversion import convert
from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.secret_rules.names import holds_secret

LONGEST_TAG, MOST_TAGS, MOST_COLUMNS = 256, 100, 2_000
"""The longest parameter, in characters, that becomes a tag, and the most tags and columns of a table that are read."""
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


class _Column(msgspec.Struct, rename="pascal"):
    name: str = ""
    type: str | None = None
    comment: str | None = None


class _Storage(msgspec.Struct, rename="pascal"):
    columns: list[_Column] | None = None


class _Table(msgspec.Struct, rename="pascal"):
    description: str | None = None
    owner: str | None = None
    table_type: str | None = None
    parameters: dict[str, str] | None = None
    storage_descriptor: _Storage | None = None
    partition_keys: list[_Column] | None = None


def members_of(table: Mapping[str, Any]) -> Json:
    """The members of the facet of a table as GetTable answers it. Raises SourceError for a definition of another form."""
    try:
        found = convert(table, _Table)
    except msgspec.ValidationError as error:
        raise SourceError(f"the definition of the table cannot be read: {error}") from error
    own = own_descriptions(found.parameters or {})
    storage = found.storage_descriptor.columns if found.storage_descriptor else None
    columns = islice((*(storage or ()), *(found.partition_keys or ())), MOST_COLUMNS)
    members = {
        "type": found.table_type,
        "description": _foreign(found.description, own.get("")),
        "owners": [found.owner] if found.owner else [],
        "tags": list(islice(_tags(found.parameters or {}), MOST_TAGS)),
        "columns": [_column(column, own) for column in columns if column.name],
    }
    return {name: value for name, value in members.items() if value}


def _column(column: _Column, own: Mapping[str, str]) -> Json:
    described = _foreign(column.comment, own.get(column.name.lower()))
    members = {"name": column.name, "type": column.type, "description": described}
    return {name: value for name, value in members.items() if value}


def _foreign(text: str | None, mark: str | None) -> str:
    """A description, unless LineageBridge wrote it."""
    return "" if not text or digest_of(text) == mark else text


def _tags(parameters: Mapping[str, str]) -> Iterator[Json]:
    """The parameters that people set, without secrets, by name."""
    for name, value in sorted(parameters.items()):
        is_technical = name in _TECHNICAL or name.startswith(_TECHNICAL_PREFIXES)
        if not is_technical and 0 < len(value) <= LONGEST_TAG and not holds_secret(name, value):
            yield {"key": name, "value": value}
