"""Finds the tables of Confluent's connector for Oracle, whose topics are named by a template with the parts of a table's name."""

import re
from collections.abc import Iterator, Mapping

from lineage_bridge.sources.common.connect.catalogue.objects import common_user, find_objects
from lineage_bridge.sources.common.connect.catalogue.view import ConnectorView, matches_any
from lineage_bridge.sources.common.connect.lineage.connection import EvidenceKind, FoundObject

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_PARTS = {"databaseName": "database", "schemaName": "schema", "tableName": "table"}
_PART, _FULL_NAME = "[^.]+", r"(?P<database>[^.]+)\.(?P<schema>[^.]+)\.(?P<table>[^.]+)"


def table_topics(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> list[FoundObject]:
    """Find the tables that the configuration's pattern lists by name, and the tables whose names occur in observed topics."""
    found = find_objects(view, candidates)
    explained = {entry.topic for entry in found}
    return [*found, *(entry for entry in _observed(view, candidates) if entry.topic not in explained)]


def _observed(view: ConnectorView, candidates: Mapping[str, EvidenceKind]) -> Iterator[FoundObject]:
    """Find tables in the names of observed topics, which contain schema and table, if the configuration's patterns allow them."""
    pattern = _inverted(view.setting("table.topic.name.template", default="${fullyQualifiedTableName}"))
    included, excluded = (view.list_of([f"table.{way}.regex"]) for way in ("inclusion", "exclusion"))
    for topic, how in sorted(candidates.items()):
        match = pattern.fullmatch(topic) if pattern and how is EvidenceKind.OBSERVED else None
        parts = match.groupdict() if match else {}
        database = parts.get("database") or view.setting("oracle.pdb.name", "oracle.sid", "oracle.service.name")
        if not database or not parts.get("schema") or not parts.get("table"):
            continue
        name = f"{database}.{common_user(parts['schema'])}.{parts['table']}"
        if matches_any(included, name) and not matches_any(excluded, name):
            yield FoundObject(name, topic, how)


def _inverted(template: str) -> re.Pattern[str] | None:
    """Make a pattern that matches the topic names which a template yields; None if it has an unknown variable, or the same variable
    twice.
    """
    pieces, end, seen = [], 0, set()
    for variable in _VARIABLE.finditer(template):
        part = _PARTS.get(variable[1])
        if variable[1] in seen or (part is None and variable[1] != "fullyQualifiedTableName"):
            return None
        seen.add(variable[1])
        pieces += [re.escape(template[end : variable.start()]), f"(?P<{part}>{_PART})" if part else _FULL_NAME]
        end = variable.end()
    if "fullyQualifiedTableName" in seen and len(seen) > 1:
        return None
    return re.compile("".join([*pieces, re.escape(template[end:])]))
