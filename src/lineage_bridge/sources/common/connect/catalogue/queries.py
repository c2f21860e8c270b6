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
"""The dialects by the schemes of namespaces; all others are read as PostgreSQL's."""
_IN_CAPITALS = frozenset(("db2", "hana", "oracle", "snowflake"))
"""Databases that keep names in capitals, unless a query has them in quotes."""
_IN_SMALL_LETTERS = frozenset(("postgres", "redshift"))
"""Databases that keep names in small letters, unless a query has them in quotes."""
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
    """Return the tables that a query reads behind a JDBC address, in order, as the database keeps their names."""
    address = read_jdbc(url)
    none = _WITHOUT_DATA.get(address.scheme, ()) if address else ()
    return [kept_name(name, query, url) for name in lineage_of(query, dialect_of(url)).inputs if ".".join(name).lower() not in none]


def kept_name(name: Sequence[str], query: str, url: str) -> str:
    """Return a table's name in a query as the database behind a JDBC address keeps it."""
    address = read_jdbc(url)
    if address is None or address.scheme not in _IN_CAPITALS | _IN_SMALL_LETTERS:
        return ".".join(name)
    quoted = _QUOTED.findall(query)
    folded = str.upper if address.scheme in _IN_CAPITALS else str.lower
    return ".".join(part if part in quoted else folded(part) for part in name)


def dialect_of(url: str) -> str:
    """Return the dialect of SQL behind a JDBC address."""
    address = read_jdbc(url)
    return _DIALECTS.get(address.scheme, "postgres") if address else "postgres"
