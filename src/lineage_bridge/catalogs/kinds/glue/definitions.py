"""Makes table definitions for Glue's UpdateTable: the whole definition, with different lineage in its parameters. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from lineage_bridge.catalogs.target import Json
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.sources.common.aws.glue_parameters import DESCRIBED, PREFIX, own_descriptions

TABLE_INPUT: Final = frozenset(
    (
        "Description",
        "LastAccessTime",
        "LastAnalyzedTime",
        "Name",
        "Owner",
        "Parameters",
        "PartitionKeys",
        "Retention",
        "StorageDescriptor",
        "TableType",
        "ViewExpandedText",
        "ViewOriginalText",
    )
)
"""The members of GetTable's answer that a definition for UpdateTable contains; the others are read-only, or not changed here."""


def obstacle(table: Json) -> str:
    """The reason why the definition of a table cannot be changed; empty if it can."""
    if table.get("TargetTable"):
        return "it is a link to a table of another catalog: publish to that one"
    if table.get("FederatedTable"):
        return "it is a table of a federated catalog"
    if table.get("ViewDefinition") or table.get("IsMultiDialectView"):
        return "it is a view of several dialects, whose definition cannot be sent back as it is read"
    return "" if table.get("VersionId") else "it has no version, so that others' changes could be lost"


def changed_definition(table: Json, parameters: Mapping[str, str], descriptions: Mapping[str, str]) -> Json | None:
    """The definition of a table with these parameters instead of those published before; None if nothing differs.

    A description is set only if there is none, or if LineageBridge wrote the current one. Descriptions of Iceberg tables come from
    Iceberg's schema, so they are not changed.
    """
    definition: Json = {name: value for name, value in table.items() if name in TABLE_INPUT}
    own = dict(table.get("Parameters") or {})
    others = {name: value for name, value in own.items() if not name.startswith(PREFIX)}
    is_iceberg = str(own.get("table_type", "")).upper() == "ICEBERG"
    marks = own_descriptions(own)
    described = {} if is_iceberg else _describe(definition, descriptions, marks)
    more = {DESCRIBED: json.dumps(described, separators=(",", ":"), sort_keys=True)} if described else {}
    definition["Parameters"] = {**others, **parameters, **more}
    before = {name: value for name, value in table.items() if name in TABLE_INPUT}
    return None if definition == {**before, "Parameters": own} else definition


def changes_of(table: Json, definition: Json) -> Mapping[str, int]:
    """How many parameters and descriptions of a table a definition sets to something else."""
    before, after = (found.get("Parameters") or {} for found in (table, definition))
    properties = sum(before.get(name) != value for name, value in after.items())
    described, describes = (dict(_described(found)) for found in (table, definition))
    comments = sum(bool(text) and described.get(name) != text for name, text in describes.items())
    return {"tables": 1, "properties": properties, "comments": comments}


def _described(definition: Json) -> Iterator[tuple[str, str | None]]:
    """The descriptions in a definition, by column; the one of the table itself has the empty name."""
    yield "", definition.get("Description")
    columns = (definition.get("StorageDescriptor") or {}).get("Columns") or ()
    for column in (*columns, *(definition.get("PartitionKeys") or ())):
        yield str(column.get("Name", "")), column.get("Comment")


def _describe(definition: Json, descriptions: Mapping[str, str], marks: Mapping[str, str]) -> dict[str, str]:
    """Set the description of a table and of those columns that nobody else described. Returns the digest of each description by
    LineageBridge, by column.
    """
    storage = dict(definition.get("StorageDescriptor") or {})
    lists: dict[str, list[Json]] = {
        "Columns": [dict(column) for column in storage.get("Columns") or ()],
        "PartitionKeys": [dict(column) for column in definition.get("PartitionKeys") or ()],
    }
    described = {}
    texts = [("", definition, "Description")]
    texts += [(str(column.get("Name", "")).lower(), column, "Comment") for columns in lists.values() for column in columns]
    for name, holder, member in texts:
        current, goal = holder.get(member) or "", descriptions.get(name, "")
        if current and digest_of(current) != marks.get(name):
            continue
        if goal:
            holder[member], described[name] = goal, digest_of(goal)
        elif current:
            del holder[member]
    if "Columns" in storage:
        definition["StorageDescriptor"] = {**storage, "Columns": lists["Columns"]}
    if "PartitionKeys" in definition:
        definition["PartitionKeys"] = lists["PartitionKeys"]
    return described
