"""How jobs and datasets are represented in a metastore: as its tables, or as external metadata with a valid name. Pure."""

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit

from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.target import Json
from lineage_bridge.sources.common.catalog.address import catalog_address

_WORKSPACE: Final = re.compile(r"(?:databricks|unitycatalog|unity-catalog)://(?:https?://)?([^/:]+)(?::443)?/?")
_OTHER_SIGNS: Final = re.compile(r"[^a-z0-9]+")
_SHOWN: Final = 100
"""How many characters of a job's or dataset's own name are in its name there, for readability; a digest makes that unique."""
_SYSTEMS: Final = {
    "bigquery": "GOOGLE_BIGQUERY",
    "confluent": "CONFLUENT",
    "databricks": "DATABRICKS",
    "fabric-warehouse": "MICROSOFT_FABRIC",
    "kafka": "KAFKA",
    "mongodb": "MONGODB",
    "mssql": "MICROSOFT_SQL_SERVER",
    "mysql": "MYSQL",
    "oracle": "ORACLE",
    "postgres": "POSTGRESQL",
    "redshift": "AMAZON_REDSHIFT",
    "snowflake": "SNOWFLAKE",
    "sqlserver": "MICROSOFT_SQL_SERVER",
    "teradata": "TERADATA",
    "unity-catalog": "DATABRICKS",
    "unitycatalog": "DATABRICKS",
}
"""Types of systems by the scheme of a namespace; all others are OTHER."""
_FILES: Final = frozenset(("abfs", "abfss", "dbfs", "file", "gs", "hdfs", "s3", "s3a", "wasb", "wasbs"))
_STREAMS: Final = frozenset(("CONFLUENT", "KAFKA"))


def table_of(dataset: Json, settings: DatabricksSettings) -> str | None:
    """The full name of the metastore's table that is this dataset, found by its name or by another name that its producers state; None if
    there is none.
    """
    symlinks = dataset.get("facets", {}).get("symlinks", {})
    others = symlinks.get("identifiers") if isinstance(symlinks, dict) else None
    names = [dataset, *(other for other in (others if isinstance(others, list) else ()) if isinstance(other, dict))]
    return next(_tables(names, settings), None)


def _tables(names: list[Json], settings: DatabricksSettings) -> Iterator[str]:
    host = urlsplit(settings.url).hostname
    for found in names:
        namespace, name = str(found.get("namespace", "")), str(found.get("name", ""))
        match = _WORKSPACE.fullmatch(namespace)
        is_here = namespace in settings.table_namespaces or (match is not None and match[1].lower() == host)
        parts = name.lower().split(".")
        if is_here and len(parts) == 3 and all(parts):
            yield ".".join(parts)


def metastore_addresses(settings: DatabricksSettings) -> frozenset[str]:
    """The addresses at which sources of kind `unity` read this metastore: those of the workspaces that the settings name."""
    workspaces = (f"https://{found[1].lower()}" for found in map(_WORKSPACE.fullmatch, settings.table_namespaces) if found)
    return frozenset(map(catalog_address, (settings.url, *workspaces, *settings.read_at)))


def metadata_name(kind: str, namespace: str, name: str, settings: DatabricksSettings) -> str:
    """A valid name for external metadata: only lower-case letters, digits and _, as for all names in a metastore."""
    shown = _OTHER_SIGNS.sub("_", name.lower()).strip("_")[:_SHOWN].strip("_")
    digest = blake2b(f"{len(namespace)} {namespace}{name}".encode(), digest_size=8).hexdigest()
    return "_".join(part for part in (settings.prefix, kind, shown, digest) if part)


def system_type(namespace: str) -> str:
    """The metastore's word for the system to which a namespace belongs."""
    scheme, _, rest = namespace.partition("://")
    if scheme == "kafka" and rest.partition(":")[0].endswith(".confluent.cloud"):
        return "CONFLUENT"
    return _SYSTEMS.get(scheme, "OTHER")


def entity_type(dataset: Json) -> str:
    """The kind of object that a dataset is in its system: as its producers state, or as is usual in that system."""
    stated = dataset.get("facets", {}).get("datasetType", {})
    found = stated.get("datasetType") if isinstance(stated, dict) else None
    if isinstance(found, str) and found:
        return found[:_SHOWN]
    system = system_type(dataset["namespace"])
    if system in _STREAMS:
        return "Topic"
    if dataset["namespace"].partition("://")[0] in _FILES:
        return "Path"
    return "Dataset" if system == "OTHER" else "Table"
