"""The tables that a query of a connector reads or writes, in the dialect of its database."""

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


def query_inputs(query: str, url: str) -> list[str]:
    """Return the tables that a query reads behind a JDBC address, in order."""
    return [".".join(name) for name in lineage_of(query, dialect_of(url)).inputs]


def dialect_of(url: str) -> str:
    """Return the dialect of SQL behind a JDBC address."""
    address = read_jdbc(url)
    return _DIALECTS.get(address.scheme, "postgres") if address else "postgres"
