"""Derives the OpenLineage dataset of a table from the table's options."""

import re
from collections.abc import Callable, Mapping

from lineage_bridge.openlineage import naming
from lineage_bridge.openlineage.jdbc.address import without_user
from lineage_bridge.openlineage.jdbc.datasets import jdbc_dataset
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sql.names import Name

_Options = Mapping[str, str]

KAFKA_TOPIC = "kafka_topic"
"""The option of ksqlDB that names a topic; by default a query writes to a topic with the name of its stream or table."""


def dataset_of(options: _Options, catalog: _Options, path: Name) -> DatasetName | None:
    """The namespace and name of a table's dataset; None if the options of the table and its catalog do not determine them. `path`:
    catalog, database and table.
    """
    kind = options.get("connector") or catalog.get("type") or ""
    make = _NAMING.get(kind)
    return None if make is None else make(options, catalog, path)


def topic_of(options: _Options, servers: str) -> DatasetName | None:
    """The dataset of the topic of a ksqlDB stream or table, in the cluster with these bootstrap servers; None if servers or topic are
    unknown.
    """
    topic = options.get(KAFKA_TOPIC, "")
    return naming.kafka(servers, topic) if servers and topic else None


def _kafka(options: _Options, _catalog: _Options, _path: Name) -> DatasetName | None:
    servers, topic = options.get("properties.bootstrap.servers"), options.get("topic", "").split(";")[0]
    return naming.kafka(servers, topic) if servers and topic else None


def _jdbc(options: _Options, _catalog: _Options, _path: Name) -> DatasetName | None:
    return jdbc_dataset(options.get("url", ""), options.get("table-name", ""), user=options.get("username", ""))


def _files(options: _Options, _catalog: _Options, _path: Name) -> DatasetName | None:
    return naming.path(options.get("path", ""))


def _iceberg(options: _Options, catalog: _Options, path: Name) -> DatasetName | None:
    return _lake({**catalog, **options}, path, "{warehouse}/{database}/{table}")


def _paimon(options: _Options, catalog: _Options, path: Name) -> DatasetName | None:
    return _lake({**catalog, **options}, path, "{warehouse}/{database}.db/{table}")


def _hudi(options: _Options, catalog: _Options, path: Name) -> DatasetName | None:
    location = options.get("path") or f"{catalog.get('catalog.path', '')}/{path[-2] if len(path) > 1 else ''}/{path[-1]}"
    return naming.path(location)


def _lake(options: _Options, path: Name, form: str) -> DatasetName | None:
    """The dataset of a table in a data lake: the location that its options state, or the folder in its warehouse."""
    location = options.get("path") or options.get("location")
    if location is None and (warehouse := options.get("warehouse", "").rstrip("/")):
        database = options.get("catalog-database") or options.get("database-name") or (path[-2] if len(path) > 1 else "default")
        table = options.get("catalog-table") or options.get("table-name") or path[-1]
        location = form.format(warehouse=warehouse, database=database, table=table)
    return None if location is None else naming.path(location)


def _server(scheme: str, *keys: str) -> Callable[[_Options, _Options, Name], DatasetName | None]:
    """Make a function that derives the dataset of a table on a database server from the table's options."""

    def make(options: _Options, _catalog: _Options, _path: Name) -> DatasetName | None:
        host = options.get("hostname") or options.get("hosts") or ""
        parts = [options.get(key, "") for key in keys]
        if not host or not all(parts):
            return None
        port = options.get("port")
        return naming.table(scheme, f"{host}:{port}" if port else host, *parts)

    return make


def _mongodb(options: _Options, _catalog: _Options, _path: Name) -> DatasetName | None:
    uri = options.get("uri", "")
    scheme = "mongodb+srv" if "mongodb+srv" in (uri.partition("://")[0], options.get("scheme")) else "mongodb"
    host = _host(uri) or _host(options.get("hosts", ""))
    database, collection = options.get("database", ""), options.get("collection", "")
    return naming.dataset(f"{scheme}://{host}", f"{database}.{collection}") if host and database and collection else None


def _elasticsearch(options: _Options, _catalog: _Options, _path: Name) -> DatasetName | None:
    host, index = _host(options.get("hosts", "")), options.get("index", "")
    return naming.table("elasticsearch", host, index) if host and index else None


def _host(address: str) -> str:
    """The first `host` or `host:port` in a URL or list, without user and password; empty if these cannot be separated from it."""
    bare = without_user(re.split(r"[;,\s]\s*(?=\w+://)", address)[0].split("://", 1)[-1]) or ""
    return re.split(r"[/?;,]", bare, maxsplit=1)[0]


_NAMING: dict[str, Callable[[_Options, _Options, Name], DatasetName | None]] = {
    "kafka": _kafka,
    "upsert-kafka": _kafka,
    "jdbc": _jdbc,
    "filesystem": _files,
    "iceberg": _iceberg,
    "paimon": _paimon,
    "hudi": _hudi,
    "postgres-cdc": _server("postgres", "database-name", "schema-name", "table-name"),
    "mysql-cdc": _server("mysql", "database-name", "table-name"),
    "sqlserver-cdc": _server("mssql", "database-name", "schema-name", "table-name"),
    "oracle-cdc": _server("oracle", "database-name", "schema-name", "table-name"),
    "db2-cdc": _server("db2", "database-name", "schema-name", "table-name"),
    "oceanbase-cdc": _server("oceanbase", "database-name", "table-name"),
    "mongodb": _mongodb,
    "mongodb-cdc": _mongodb,
    **dict.fromkeys(("elasticsearch-6", "elasticsearch-7", "elasticsearch-8", "opensearch", "opensearch-2"), _elasticsearch),
}
