"""The tables that a query of a connector reads or writes, in the dialect of its database."""

import re
from collections.abc import Sequence

from lineage_bridge.openlineage.jdbc.drivers import read_jdbc
from lineage_bridge.sql.reading import lineage_of

_DIALECTS = {
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "databricks": "databricks",
    "hive": "hive",
    "mssql": "tsql",
    "mysql": "mysql",
    "oracle": "oracle",
    "redshift": "redshift",
    "singlestore": "mysql",
    "snowflake": "snowflake",
    "sqlite": "sqlite",
    "trino": "trino",
}
"""Dialects by the schemes of namespaces; queries of all others are parsed as PostgreSQL's."""
_IN_CAPITALS = frozenset(("db2", "hana", "oracle", "snowflake"))
"""Databases that store names in capitals, unless a query quotes them."""
_IN_SMALL_LETTERS = frozenset(("postgres", "redshift"))
"""Databases that store names in small letters, unless a query quotes them."""
_WITHOUT_DATA = {
    "db2": ("sysibm.sysdummy1", "sysdummy1"),
    "hana": ("dummy", "sys.dummy"),
    "mysql": ("dual",),
    "oracle": ("dual", "sys.dual"),
    "snowflake": ("dual",),
}
"""Tables of one row that databases have for queries that read none."""
_QUOTED = re.compile(r'"([^"]+)"')


def query_inputs(query: str, url: str) -> list[str]:
    """Return the tables that a query on this JDBC address reads, in order, with their names as the database stores them.

    Empty if the query cannot be parsed: what stands in the position of a table may be anything.
    """
    address = read_jdbc(url)
    lineage = lineage_of(query, dialect_of(url))
    if lineage.errors:
        return []
    none = _WITHOUT_DATA.get(address.scheme, ()) if address else ()
    return [kept_name(name, query, url) for name in lineage.inputs if ".".join(name).lower() not in none]


def kept_name(name: Sequence[str], query: str, url: str) -> str:
    """Return a table's name in a query as the database of this JDBC address stores it."""
    address = read_jdbc(url)
    if address is None or address.scheme not in _IN_CAPITALS | _IN_SMALL_LETTERS:
        return ".".join(name)
    quoted = _QUOTED.findall(query)
    folded = str.upper if address.scheme in _IN_CAPITALS else str.lower
    return ".".join(part if part in quoted else folded(part) for part in name)


def dialect_of(url: str) -> str:
    """Return the SQL dialect of a JDBC address."""
    address = read_jdbc(url)
    return _DIALECTS.get(address.scheme, "postgres") if address else "postgres"
