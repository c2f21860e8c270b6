"""Finds the tables that Camel's endpoints read or write with a query. Such endpoints are the kamelets of databases, and Camel's components
`sql` and `cql` (Cassandra).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from lineage_bridge.openlineage import naming
from lineage_bridge.openlineage.jdbc.datasets import jdbc_dataset
from lineage_bridge.sources.common.connect.catalogue.filters import server
from lineage_bridge.sources.common.connect.catalogue.queries import dialect_of, kept_name, lineage_in
from lineage_bridge.sources.common.connect.catalogue.templates import is_unreadable


class _Database(NamedTuple):
    """How the address of a database is built from options. `words`: texts in the name of its component or of its driver class, by which
    it is recognised.
    """

    words: str
    url: str
    port: str


_DATABASES = (
    _Database(r"postgresql", "jdbc:postgresql://{server}:{port}/{database}", "5432"),
    _Database(r"mariadb", "jdbc:mariadb://{server}:{port}/{database}", "3306"),
    _Database(r"mysql", "jdbc:mysql://{server}:{port}/{database}", "3306"),
    _Database(r"sqlserver", "jdbc:sqlserver://{server}:{port};databaseName={database}", "1433"),
    _Database(r"oracle(?:database)?", "jdbc:oracle:thin:@//{server}:{port}/{database}", "1521"),
    _Database(r"redshift", "jdbc:redshift://{server}:{port}/{database}", "5439"),
)
_PARAMETER = re.compile(r":[#?](?:\$\{[^{}]*\}|[\w.\-\[\]]+)|(?<=[(,=\s])#(?=[,)\s]|$)|\$\{[^{}]*\}")
"""A value that Camel inserts at run time: `:#name`, `:?name`, `:#${body}`, `#`."""
_DECIDING = (
    "servername",
    "serverport",
    "portnumber",
    "databasename",
    "connectionhost",
    "connectionport",
    "hosts",
    "host",
    "port",
    "keyspace",
)
_ELSEWHERE = ("classpath:", "file:", "http:", "https:", "ref:", "resource:")
_KEYSPACE = re.compile(r"(?:(?P<port>\d+)/)?(?P<name>\w+)")


def sql_datasets(component: str, options: Mapping[str, str], direction: str) -> list[naming.DatasetName]:
    """The tables that an endpoint reads or writes; none if its server, its database or its query is unknown.

    `options`: by name, in lower case without separators. `direction`: source or sink.
    """
    if any(is_unreadable(options.get(option, "")) for option in _DECIDING):
        return []
    if component in ("cassandra", "cql"):
        return _cassandra(options, direction)
    driver = component if component not in ("sql", "jdbc") else options.get("datasource", "").lower()
    database = next((entry for entry in _DATABASES if re.search(entry.words, driver)), None)
    if database is None or not (options.get("servername") and options.get("databasename")):
        return []
    url = database.url.format(
        server=server(options["servername"]),
        port=options.get("serverport") or options.get("portnumber") or database.port,
        database=options["databasename"],
    )
    user = options.get("username", options.get("user", ""))
    user = "" if is_unreadable(user) else user
    query = options.get("query", "")
    tables = (kept_name(table.split("."), query, url) for table in _tables(query, dialect_of(url), direction))
    return [name for name in (jdbc_dataset(url, table, user=user, in_full=True) for table in tables) if name is not None]


def _cassandra(options: Mapping[str, str], direction: str) -> list[naming.DatasetName]:
    host = server(options.get("connectionhost") or options.get("hosts") or options.get("host", ""))
    keyspace = _KEYSPACE.fullmatch(options.get("keyspace", ""))
    if not host or keyspace is None:
        return []
    port = options.get("connectionport") or options.get("port") or keyspace["port"] or "9042"
    tables = _tables(options.get("query") or options.get("cql", ""), "postgres", direction)
    names = (table if "." in table else f"{keyspace['name']}.{table}" for table in tables)
    return [naming.dataset(f"cassandra://{host}:{port}", name) for name in names]


def _tables(query: str, dialect: str, direction: str) -> list[str]:
    """The tables that a query reads or, for a sink, writes; none if it cannot be parsed."""
    if not query or query.startswith(_ELSEWHERE):
        return []
    lineage = lineage_in(_PARAMETER.sub("NULL", query), dialect)
    if lineage is None:
        return []
    return sorted(".".join(name) for name in (lineage.inputs if direction == "source" else lineage.outputs))
