"""Converts tables of AWS Glue to datasets. Pure.

A table is named as OpenLineage's naming specification has it: `arn:aws:glue:REGION:ACCOUNT`, `table/DATABASE/TABLE`. The folder of its data
is another name of the table; producers that only see the files use it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, digest_of, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.aws.glue_parameters import own_descriptions
from lineage_bridge.sources.common.catalog.assets import Asset, AssetEvents, AssetRecord
from lineage_bridge.sources.glue.views import NO_TEXT, ViewLineage, view_lineage

EVENTS = EventBuilder("https://lineagebridge.dev/sources/glue")
_LOCATION: Final = re.compile(r"(?P<scheme>(?:s3[an]?|gs|abfss?|wasbs?)://)(?P<host>[^/]+)/+(?P<path>.*[^/])/*", re.IGNORECASE)
_DEFAULT_OWNER: Final = "owner"
"""The owner that crawlers and the console give a table that has none."""
_ACCOUNT: Final = re.compile(r"\d{12}")


class CatalogLocation(NamedTuple):
    """The catalog in which a table is listed: AWS region, AWS partition and account. A table whose answer names another catalog is in that
    one.
    """

    region: str
    partition: str
    account: str

    def name_of(self, entry: Mapping[str, Any], database: str) -> DatasetName | None:
        """The dataset name of the table that `entry` denotes (by CatalogId, DatabaseName, Name, Region); None if its account is unknown."""
        account, region = str(entry.get("CatalogId") or self.account), str(entry.get("Region") or self.region)
        name, held_by = str(entry.get("Name") or ""), str(entry.get("DatabaseName") or database)
        if not _ACCOUNT.fullmatch(account) or not name:
            return None
        return f"arn:{self.partition}:glue:{region}:{account}", f"table/{held_by}/{name}"


class TableFacts(NamedTuple):
    """What a catalog has about one table. `changed_us`: when the table was last changed; None if the answer does not state it.

    `is_unread`: whether it is a view whose text cannot be read, so that its lineage is unknown.
    """

    name: DatasetName
    facets: dict[str, Json]
    changed_us: int | None
    is_unread: bool = False

    @property
    def columns(self) -> int:
        """The number of columns."""
        return len(self.facets.get("schema", {}).get("fields", ()))


def read_table(entry: Mapping[str, Any], database: str, catalog: CatalogLocation) -> TableFacts | None:
    """Read the facts about a table from an answer of GetTables; None for a table without a name or account. Members of an unexpected form
    are left out.
    """
    name = catalog.name_of(entry, database)
    if name is None:
        return None
    facets: dict[str, Json] = {}
    parameters, storage = _object(entry.get("Parameters")), _object(entry.get("StorageDescriptor"))
    ours = own_descriptions(parameters)
    fields = [*_fields(storage.get("Columns"), ours), *_fields(entry.get("PartitionKeys"), ours)]
    if fields:
        facets["schema"] = EVENTS.schema(schema_fields(fields))
    if description := _described(entry.get("Description"), ours.get("")):
        facets["documentation"] = EVENTS.documentation("Dataset", description)
    owner = _text(entry.get("Owner"))
    if owner and owner != _DEFAULT_OWNER:
        facets["ownership"] = EVENTS.ownership("Dataset", owner)
    target = entry.get("TargetTable")
    is_view = entry.get("TableType") == "VIRTUAL_VIEW" or "ViewDefinition" in entry
    if isinstance(target, dict):
        if same := catalog.name_of(target, database):
            facets["symlinks"] = EVENTS.symlinks([same], "TABLE")
    elif not is_view and (location := _location(storage)):
        facets["symlinks"] = EVENTS.symlinks([location], "LOCATION")
    facets["datasetType"] = EVENTS.dataset_type("VIEW" if is_view else "TABLE")
    is_own_view = is_view and not isinstance(target, dict)
    found = _view_lineage(entry, database, catalog, [field.name for field in fields]) if is_own_view else NO_TEXT
    if found.facet:
        facets["lineage"] = found.facet
    changed = entry.get("UpdateTime")
    changed_us = int(changed.timestamp() * 1_000_000) if isinstance(changed, datetime) else None
    return TableFacts(name, facets, changed_us, found.is_unread)


def _view_lineage(entry: Mapping[str, Any], database: str, catalog: CatalogLocation, columns: Sequence[str]) -> ViewLineage:
    here = {member: entry[member] for member in ("CatalogId", "Region") if member in entry}

    def name_of(held_by: str, table: str) -> DatasetName | None:
        return catalog.name_of({**here, "DatabaseName": held_by, "Name": table}, held_by)

    return view_lineage(entry, database, columns, name_of, EVENTS)


def table_events(facts: TableFacts, was: Mapping[str, Any] | None, now_us: int, events: AssetEvents) -> tuple[dict[str, Any], list[Json]]:
    """A table's part of the snapshot, and its events if anything differs from the previous part.

    A new table gets two events: one dated when the table was last changed, because its facets are valid since then; and one dated now,
    which is newer than any earlier event that deleted these facets.
    """
    asset, before = Asset(facts.name, facts.facets), _record(was) if was else None
    record, made = events.changed(asset, before, 0, now_us)
    if was and not made:
        return dict(was), []
    is_new = before is None or before.names != record.names
    is_older = is_new and facts.changed_us is not None and facts.changed_us < now_us
    earlier = [events.stated(asset, facts.changed_us or 0)] if is_older else []
    return {"name": list(facts.name), "facets": sorted(facts.facets), "digest": record.digest}, [*made[:-1], *earlier, made[-1]]


def gone_event(was: Mapping[str, Any], now_us: int, events: AssetEvents) -> Json:
    """The event of a table that is no longer in the catalog: it deletes all facets that the catalog stated about the table.

    It does not report the dataset as dropped: the data of an external table stays in its folder, and other programs may still use it.
    """
    return events.gone(_record(was), now_us)


def _record(was: Mapping[str, Any]) -> AssetRecord:
    namespace, name = was["name"]
    return AssetRecord(namespace, name, is_job=False, facets=tuple(was["facets"]), digest=was["digest"], walk=0)


def _location(storage: Mapping[str, Any]) -> DatasetName | None:
    """The folder of a table's files. For tables of Spark, the location may be a placeholder; the folder is then in a property of the
    format.
    """
    properties = _object(_object(storage.get("SerdeInfo")).get("Parameters"))
    for text in (_text(storage.get("Location")), _text(properties.get("path"))):
        if "__PLACEHOLDER__" not in text and (found := _LOCATION.fullmatch(text)):
            return found["scheme"].lower() + found["host"], found["path"]
    return None


def _fields(columns: Any, ours: Mapping[str, str]) -> Iterator[SchemaField]:  # noqa: ANN401  # JSON
    for column in columns if isinstance(columns, list) else ():
        if isinstance(column, dict) and (name := _text(column.get("Name"))):
            description = _described(column.get("Comment"), ours.get(name.lower()))
            yield SchemaField(name=name, type=_text(column.get("Type")) or None, description=description or None)


def _described(text: Any, mark: str | None) -> str:  # noqa: ANN401  # JSON
    """A description; empty if LineageBridge itself wrote it (`mark` is the digest of the description that it wrote)."""
    found = _text(text)
    return "" if mark and mark in (digest_of(text), digest_of(found)) else found


def _text(value: Any) -> str:  # noqa: ANN401  # JSON
    return value.strip() if isinstance(value, str) else ""


def _object(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  # JSON
    return value if isinstance(value, dict) else {}
