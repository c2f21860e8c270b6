"""Reads the lineage of views from their text. Pure.

Athena and Trino store a view as base64 of JSON in a comment, Hive and Spark as SQL, and Glue's multi-dialect views as SQL for each dialect.
"""

import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.catalog.reading import list_in, object_in, source_of, text_in
from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.reading import lineage_of

LONGEST: Final = 128_000
"""The longest text of a view that is read, in characters."""
_PRESTO: Final = re.compile(r"/\*\s*Presto (?:Materialized )?View:([A-Za-z0-9+/=\s]+)\*/")
_PRESTO_MARK: Final = re.compile(r"\s*/\*\s*Presto (?:Materialized )?View")
_DIALECTS: Final = {"ATHENA": "trino", "SPARK": "spark", "REDSHIFT": "redshift"}
"""Dialects of Glue's views of several dialects, in the order in which they are preferred."""
_HERE: Final = frozenset(("awsdatacatalog", "spark_catalog", "hive"))
"""The names that engines give the catalog itself."""
_NAMESPACE: Final = "view.catalogAndNamespace.part.1"
_ARN: Final = re.compile(r"(arn:[^:]+:glue:[^:]+:\d{12}):(table/[^/]+/[^/]+)")
_DIRECT: Final = frozenset(("IDENTITY", "TRANSFORMATION", "AGGREGATION"))
Namer = Callable[[str, str], DatasetName | None]
"""A function that names a table, by database and name."""


class ViewText(NamedTuple):
    """The query of a view, its SQL dialect, the catalog and database in which its table names are resolved, and its columns."""

    query: str
    dialect: str
    database: str
    catalog: str
    columns: tuple[str, ...]


class ViewLineage(NamedTuple):
    """The lineage facet of a view, None if nothing is known; and whether the view has a text that cannot be read."""

    facet: Json | None
    is_unread: bool = False


NO_TEXT: Final = ViewLineage(None)


def view_lineage(entry: Mapping[str, Any], database: str, columns: Sequence[str], name_of: Namer, events: EventBuilder) -> ViewLineage:
    """Derive the lineage of a view, with columns, from its text in an answer of GetTables; without a text, from the source tables that Glue
    lists. Tables of other catalogs are left out.
    """
    texts = list(_texts(entry, database, tuple(columns)))
    for text in texts:
        if text and len(text.query) <= LONGEST and not (lineage := _lineage(text)).errors:
            return ViewLineage(_facet(text, lineage, name_of, events))
    tables = [source_of((arn[1], arn[2])) for arn in map(_ARN.fullmatch, map(str, list_in(entry, "ViewDefinition", "SubObjects"))) if arn]
    return ViewLineage(events.dataset_lineage(tables, {}) if tables else None, bool(texts) and not tables)


def _texts(entry: Mapping[str, Any], database: str, columns: tuple[str, ...]) -> Iterator[ViewText | None]:
    original, expanded = text_in(entry, "ViewOriginalText"), text_in(entry, "ViewExpandedText")
    if _PRESTO_MARK.match(original) or _PRESTO_MARK.match(expanded):
        yield _presto(original) or _presto(expanded)
        return
    by_dialect = {text_in(found, "Dialect"): found for found in list_in(entry, "ViewDefinition", "Representations")}
    for name, dialect in _DIALECTS.items():
        if text := text_in(by_dialect.get(name), "ViewOriginalText") or text_in(by_dialect.get(name), "ViewExpandedText"):
            yield ViewText(text, dialect, database, "", columns)
    parameters = object_in(entry, "Parameters")
    is_of_spark = any(key.startswith(("view.", "spark.sql.")) for key in parameters)
    if text := original if is_of_spark else expanded or original:  # Hive's expanded text has all names in full
        yield ViewText(text, "spark" if is_of_spark else "hive", text_in(parameters, _NAMESPACE) or database, "", columns)


def _presto(text: str) -> ViewText | None:
    match = _PRESTO.search(text)
    try:
        found = msgspec.json.decode(binascii.a2b_base64(match[1])) if match else None
    except (binascii.Error, msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    query, database = text_in(found, "originalSql"), text_in(found, "schema")
    names = tuple(text_in(column, "name") for column in list_in(found, "columns"))
    return ViewText(query, "trino", database, text_in(found, "catalog"), names if all(names) else ()) if query else None


def _facet(text: ViewText, lineage: Lineage, name_of: Namer, events: EventBuilder) -> Json:
    named = {name: found for name in lineage.inputs if (found := _named(name, text, name_of))}
    fields: dict[str, list[Json]] = {}
    for flow in lineage.columns:
        if flow.in_table in named:
            source = _source(named[flow.in_table], flow.in_column, flow.subtype.name)
            fields.setdefault(flow.out_column, []).append(source)
    deciding = [_source(named[flow.in_table], flow.in_column, flow.kind) for flow in lineage.indirect if flow.in_table in named]
    with_columns = {(source["namespace"], source["name"]) for sources in (*fields.values(), deciding) for source in sources}
    inputs = [source_of(name) for name in dict.fromkeys(named.values()) if name not in with_columns]
    return events.dataset_lineage([*inputs, *deciding], fields)


@lru_cache(1024)
def _lineage(text: ViewText) -> Lineage:
    """The lineage of a view's query, as if it were inserted into a table with the view's columns. Cached, because each poll lists all
    views.
    """
    columns = ", ".join(_quoted(column, text.dialect) for column in text.columns)
    head = f"INSERT INTO {_quoted('view', text.dialect)} " + (f"({columns}) " if columns else "")
    return lineage_of(f"{head}{text.query.rstrip().rstrip(';')}", text.dialect)


def _quoted(name: str, dialect: str) -> str:
    quote = "`" if dialect in ("hive", "spark") else '"'
    return quote + name.replace(quote, quote * 2) + quote


def _named(name: Name, text: ViewText, name_of: Namer) -> DatasetName | None:
    *above, table = (part.lower() for part in name)
    if len(above) == 2 and above[0] not in _HERE | {text.catalog.lower()}:
        return None
    return name_of(above[-1] if above else text.database.lower(), table) if len(above) <= 2 else None


def _source(name: DatasetName, column: str, subtype: str) -> Json:
    kind = "DIRECT" if subtype in _DIRECT else "INDIRECT"
    return {**source_of(name, column.lower()), "transformations": [{"type": kind, "subtype": subtype}]}
