"""Identity: which names stand for one dataset, by the symlinks producers state. Never by the name alone."""

from collections.abc import Callable, Iterable, Mapping

from lineage_bridge.openlineage import facets as standard

_SPEC_SCHEMES = frozenset(
    {
        "kafka",
        "postgres",
        "mysql",
        "mssql",
        "oracle",
        "db2",
        "crate",
        "oceanbase",
        "teradata",
        "redshift",
        "snowflake",
        "spanner",
        "cassandra",
        "milvus",
        "trino",
        "hive",
        "awsathena",
        "unitycatalog",
        "azurecosmos",
        "azurekusto",
        "sqlserver",
        "s3",
        "gs",
        "hdfs",
        "abfss",
        "wasbs",
        "dbfs",
        "file",
        "inmemory",
    }
)
_SPEC_NAMESPACES = frozenset({"bigquery", "pubsub", "file"})


def form_rank(namespace: str) -> int:
    """How canonical a namespace's form is: 0 for a form of the naming specification, 1 for any other."""
    scheme, found, _ = namespace.partition("://")
    known = scheme in _SPEC_SCHEMES if found else namespace in _SPEC_NAMESPACES or namespace.startswith("arn:aws:glue:")
    return 0 if known else 1


def canonical_order(namespace: str, name: str) -> tuple[int, bytes, bytes]:
    """The order in which the least name of a group is its canonical one."""
    return form_rank(namespace), namespace.encode("utf-8", "replace"), name.encode("utf-8", "replace")


def symlinks(text: bytes) -> list[tuple[str, str, str]]:
    """The names (namespace, name, type) that a symlinks facet states, without those that identify nothing.

    A table name of a Flink session's own catalog is such a name: two jobs can use it for two topics.
    """
    facet = standard.read_as(standard.SymlinksDatasetFacet, "dataset", "symlinks", text)
    found = {(link.namespace, link.name, link.type or "") for link in (facet.identifiers or () if facet else ())}
    return sorted(link for link in found if link[0] and link[1] and not _session_local(*link[:2]))


def _session_local(namespace: str, name: str) -> bool:
    return name.startswith("default_catalog.") or (namespace.startswith("kafka://") and name.startswith("default_database."))


def component(start: int, neighbours: Callable[[int], Iterable[int]]) -> frozenset[int]:
    """All ids that are joined with `start`, itself included."""
    seen, waiting = {start}, [start]
    while waiting:
        for other in neighbours(waiting.pop()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return frozenset(seen)


def canonical(members: Iterable[int], name_of: Mapping[int, tuple[str, str]]) -> int:
    """The member whose name is the least by the order of canonical names."""
    return min(members, key=lambda member: (canonical_order(*name_of[member]), member))
