"""Finds the tables that the query of a connector reads or writes, in the SQL dialect of its database."""

import re
from collections.abc import Sequence

from lineage_bridge.openlineage.jdbc.drivers import read_jdbc
from lineage_bridge.openlineage.naming import as_stored
from lineage_bridge.sql.lineage import Lineage
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
_WITHOUT_DATA = {
    "db2": ("sysibm.sysdummy1", "sysdummy1"),
    "hana": ("dummy", "sys.dummy"),
    "mysql": ("dual",),
    "oracle": ("dual", "sys.dual"),
    "snowflake": ("dual",),
}
"""Tables of one row that databases provide for queries that read no other table."""
_OTHERS = ("tsql", "teradata", "oracle", "mysql")
"""Dialects that are tried if a query cannot be parsed in its own. They have what databases without a dialect of their own use: `SELECT TOP
10`, `SEL`, functions of JSON.
"""
_ADAPTED = (
    (re.compile(r"\{(?:d|ts?)\s{1,9}('[^']{0,64}')\s{0,9}\}", re.IGNORECASE), r"\1"),
    (re.compile(r"\bCURRENT\s{1,9}(DATE|TIME|TIMESTAMP)\b", re.IGNORECASE), r"CURRENT_\1"),
    (re.compile(r"[+-]\s{0,9}\d{1,9}\s{1,9}(?:YEAR|MONTH|DAY|HOUR|MINUTE|SECOND|MICROSECOND)S?\b", re.IGNORECASE), "+ 1"),
    (re.compile(r"\bLIMIT\s{1,9}\d{1,9}\s{1,9}OVER\s{0,9}\((?:[^()]|\([^()]{0,200}\)){0,500}\)", re.IGNORECASE), ""),
    (re.compile(r"\bSELECT\s{1,9}(?:SKIP\s{1,9}\d{1,9}\s{1,9})?FIRST\s{1,9}\d{1,9}\b", re.IGNORECASE), "SELECT"),
    (re.compile(r"^\s{0,9}LOCK(?:ING)?\s[\w.\"\s]{1,300}?\b(?:ACCESS|READ|SHARE)\s(?:\s{0,9}(?:MODE|NOWAIT)\s){0,2}", re.IGNORECASE), ""),
    (re.compile(r"\sWITH\s{1,9}(?:UR|CS|RS|RR|NC)(?=[\s;]{0,9}$)", re.IGNORECASE), ""),
)
"""Parts of queries that only databases without a dialect of their own have, each with a replacement that leaves the tables the same:
escapes of JDBC, DB2's times and isolation, Vertica's limits by group, the first rows of Informix and Firebird, Teradata's locks.
"""
_LONGEST = 20_000
"""The longest query that is read again after it could not be parsed, in characters."""
_QUOTED = re.compile(r'"([^"]+)"')


def query_inputs(query: str, url: str) -> list[str]:
    """Return the tables that a query reads from the database at a JDBC address, in order, spelt as the database stores them.

    The result is empty if the query cannot be parsed: a word in the position of a table could then be anything.
    """
    address = read_jdbc(url)
    lineage = lineage_in(query, dialect_of(url))
    if lineage is None:
        return []
    none = _WITHOUT_DATA.get(address.scheme, ()) if address else ()
    return [kept_name(name, query, url) for name in lineage.inputs if ".".join(name).lower() not in none]


def lineage_in(query: str, dialect: str) -> Lineage | None:
    """The lineage of a query in this dialect or, if it cannot be parsed in it, in the first dialect that can; None if none can."""
    lineage = lineage_of(query, dialect)
    if not lineage.errors:
        return lineage
    if len(query) > _LONGEST:
        return None
    for pattern, instead in _ADAPTED:
        query = pattern.sub(instead, query)
    found = (lineage_of(query, other) for other in (dialect, *_OTHERS))
    return next((lineage for lineage in found if not lineage.errors and (lineage.inputs or lineage.outputs)), None)


def kept_name(name: Sequence[str], query: str, url: str) -> str:
    """Return a table's name in a query as the database at this JDBC address stores it: folded to its case unless quoted."""
    address = read_jdbc(url)
    if address is None:
        return ".".join(name)
    quoted = _QUOTED.findall(query)
    return ".".join(part if part in quoted else as_stored(address.scheme, part) for part in name)


def dialect_of(url: str) -> str:
    """Return the SQL dialect of the database at a JDBC address."""
    address = read_jdbc(url)
    return _DIALECTS.get(address.scheme, "postgres") if address else "postgres"
