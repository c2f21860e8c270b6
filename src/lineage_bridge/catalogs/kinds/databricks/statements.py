"""Writes the SQL statements that change properties, comments and tags of tables of a metastore. Pure.

Sources: Databricks' references of ALTER TABLE, ALTER VIEW, ALTER STREAMING TABLE, ALTER MATERIALIZED VIEW, COMMENT ON and the information
schema. These statements take literals only, no parameters.
"""

from collections.abc import Iterable, Mapping
from typing import Final

_ALTERED: Final = {
    "MATERIALIZED_VIEW": "MATERIALIZED VIEW",
    "METRIC_VIEW": "VIEW",
    "STREAMING_TABLE": "STREAMING TABLE",
    "VIEW": "VIEW",
}
"""The keyword after ALTER for objects that are not plain tables, by `table_type`."""
WITHOUT_PROPERTIES: Final = frozenset(("MATERIALIZED_VIEW", "STREAMING_TABLE"))
"""The types of tables whose properties ALTER cannot set."""
_PLACED: Final = "lower(concat_ws('.', catalog_name, schema_name, table_name))"


def name_of(table: str) -> str:
    """Write the full name of a table as an identifier."""
    return ".".join(identifier(part) for part in table.split("."))


def identifier(name: str) -> str:
    """Quote an identifier."""
    return f"`{name.replace('`', '``')}`"


def literal(text: str) -> str:
    """Quote a text so that the parser returns it as it is. A `$` is escaped, since `${...}` would be replaced by a variable."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024").replace("\n", "\\n")
    return f"'{escaped}'"


def set_properties(table: str, kind: str, properties: Mapping[str, str]) -> str:
    """Set properties of a table or view."""
    return f"{_alter(table, kind)} SET TBLPROPERTIES ({_pairs(properties)})"


def unset_properties(table: str, kind: str, names: Iterable[str]) -> str:
    """Remove properties of a table or view."""
    return f"{_alter(table, kind)} UNSET TBLPROPERTIES IF EXISTS ({_names(names)})"


def set_comment(table: str, column: str, text: str) -> str:
    """Set the comment of a column, or of the table itself; an empty text removes it."""
    named = f"COLUMN {name_of(table)}.{identifier(column)}" if column else f"TABLE {name_of(table)}"
    return f"COMMENT ON {named} IS {literal(text) if text else 'NULL'}"


def set_tags(table: str, kind: str, column: str, tags: Mapping[str, str]) -> str:
    """Set tags of a column, or of the table itself."""
    return f"{_tagged(table, kind, column)} SET TAGS ({_pairs(tags)})"


def unset_tags(table: str, kind: str, column: str, keys: Iterable[str]) -> str:
    """Remove tags of a column, or of the table itself."""
    return f"{_tagged(table, kind, column)} UNSET TAGS ({_names(keys)})"


def tags_of(count: int) -> str:
    """The query for the tags of `count` tables, which are the parameters `t0`, `t1`, ...

    Rows: full name of the table, column (empty: the table itself), key, value.
    """
    asked = ", ".join(f":t{number}" for number in range(count))
    return f"""SELECT {_PLACED} AS id, '' AS column_name, tag_name, coalesce(tag_value, '') AS tag_value
FROM system.information_schema.table_tags WHERE {_PLACED} IN ({asked})
UNION ALL
SELECT {_PLACED} AS id, column_name, tag_name, coalesce(tag_value, '') AS tag_value
FROM system.information_schema.column_tags WHERE {_PLACED} IN ({asked})"""


TAGS_ANSWER: Final = "SELECT 1 FROM system.information_schema.table_tags LIMIT 1"
"""Tries whether tags can be read."""


def _alter(table: str, kind: str) -> str:
    return f"ALTER {_ALTERED.get(kind, 'TABLE')} {name_of(table)}"


def _tagged(table: str, kind: str, column: str) -> str:
    if not column:
        return _alter(table, kind)
    altered = "TABLE" if _ALTERED.get(kind) == "VIEW" else kind  # ALTER VIEW does so for columns in new versions only
    return f"{_alter(table, altered)} ALTER COLUMN {identifier(column)}"


def _pairs(members: Mapping[str, str]) -> str:
    return ", ".join(f"{literal(name)} = {literal(value)}" for name, value in sorted(members.items()))


def _names(names: Iterable[str]) -> str:
    return ", ".join(literal(name) for name in sorted(names))
