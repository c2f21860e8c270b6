"""The tables that DDL defines for Flink jobs: their datasets, columns and consumer groups. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.flink.formats import of_topic
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sql.jobs import StartedJob, jobs_of
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.script import FLINK, StreamingScript
from lineage_bridge.sql.statements.catalog import Catalog, ColumnKind, Table
from lineage_bridge.sql.statements.datasets import dataset_of

_T = TypeVar("_T")
_K = TypeVar("_K")
_KAFKA = ("kafka", "upsert-kafka")
_WHOLE = 3
"""Parts of a path: catalog, database and table."""


@dataclass(frozen=True)
class KnownTable:
    """A table that DDL defines.

    `dataset` is None if its options do not name one; for Kafka, `topics` or `pattern` name topics at `servers`. `fields`: the columns
    of the dataset. `columns`: pairs of the names of a column in the table and in the dataset, where these differ.
    """

    path: Name
    connector: str
    dataset: DatasetName | None = None
    servers: str = ""
    topics: tuple[str, ...] = ()
    pattern: str = ""
    group: str = ""
    fields: tuple[SchemaField, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()

    def column(self, name: str) -> str:
        """Return the dataset's name for a column of the table."""
        return dict(self.columns).get(name, name)

    def datasets(self, shared: SharedMetadata) -> tuple[DatasetName, ...]:
        """Return the datasets of the table. Topics get the namespace by which other sources know their cluster."""
        if self.connector not in _KAFKA:
            return (self.dataset,) if self.dataset else ()
        if not self.servers:
            return ()
        namespace = shared.namespace("", self.servers)
        topics = self.topics or _fitting(self.pattern, shared, self.servers)
        return tuple((namespace, topic) for topic in topics)


@dataclass(frozen=True)
class JobStatement:
    """An SQL statement that starts a job, with the tables known in its session. `read` and `written`: the last parts of the names of
    its tables.
    """

    job: StartedJob
    tables: Mapping[Name, KnownTable]
    read: frozenset[str]
    written: frozenset[str]


@dataclass(frozen=True)
class DeclaredTables:
    """The declarations in the user's SQL: tables by their paths, and statements by the names of their jobs and by their tables.

    `last`: for the last part of a name, the tables that have it. `catalogs`: options of catalogs, by which tables without DDL are
    located.
    """

    tables: Mapping[Name, KnownTable]
    last: Mapping[str, tuple[KnownTable, ...]]
    named: Mapping[str, tuple[JobStatement, ...]]
    moving: Mapping[tuple[frozenset[str], frozenset[str]], tuple[JobStatement, ...]]
    catalogs: Mapping[str, Mapping[str, str]]

    def origins(self, name: str, read: Iterable[Name], written: Iterable[Name]) -> list[JobStatement]:
        """Return the statements that may have started a job.

        These are statements with the job's name that contain its tables or, if no statement has its name, statements with exactly
        its tables. The plan may lack some of the job's tables, and has only the last part of some names.
        """
        sides = frozenset(map(_last, read)), frozenset(map(_last, written))
        if name not in self.named:
            return list(self.moving.get(sides, ())) if any(sides) else []
        fitting = [path for path in self.named[name] if sides[0] <= path.read and sides[1] <= path.written]
        return [path for path in fitting if (path.read, path.written) == sides] or fitting

    def table(self, path: Name) -> KnownTable | None:
        """Return a table by its path, or by the last part of its path if only one table has this part. In the catalog of a data lake, every
        path is a table.
        """
        return self.defined(path) or self._placed(path)

    def defined(self, path: Name) -> KnownTable | None:
        """Return a table that DDL defines, by its path, or by the last part of its path if only one table has this part."""
        found = self.last.get(path[0], ()) if len(path) == 1 else ()
        return self.tables.get(path) or (found[0] if len(found) == 1 else None)

    def _placed(self, path: Name) -> KnownTable | None:
        options = self.catalogs.get(path[0], {}) if len(path) == _WHOLE else {}
        dataset = dataset_of({}, options, path) if options else None
        return KnownTable(path, options.get("type", ""), dataset) if dataset else None


@lru_cache(8)
def read_declarations(ddl: str, statements: tuple[str, ...]) -> DeclaredTables:
    """Parse what DDL and scripts declare. A table that one script defines is also known for jobs of other scripts, unless another script
    defines it differently.
    """
    base = StreamingScript(FLINK)
    for _ in base.read(ddl):
        pass
    tables: dict[Name, KnownTable | None] = dict(_tables(base.catalog))
    origins: list[JobStatement] = []
    for text in statements:
        script = StreamingScript(FLINK)
        for _ in script.read(ddl):
            pass
        started = list(jobs_of(script, text))
        own = _tables(script.catalog)
        origins += [JobStatement(job, own, *(frozenset(map(_last, side)) for side in job.tables)) for job in started]
        for path, table in own.items():
            tables[path] = table if tables.get(path, table) == table else None
    known = {path: table for path, table in tables.items() if table is not None}
    return DeclaredTables(
        known,
        _grouped(known.values(), lambda table: table.path[-1]),
        _grouped(origins, lambda text: text.job.name),
        _grouped(origins, lambda text: (text.read, text.written)),
        base.catalog.catalogs(),
    )


def _grouped(items: Iterable[_T], key: Callable[[_T], _K]) -> dict[_K, tuple[_T, ...]]:
    found: dict[_K, tuple[_T, ...]] = {}
    for item in items:
        found[key(item)] = (*found.get(key(item), ()), item)
    return found


def _tables(catalog: Catalog) -> dict[Name, KnownTable]:
    return {
        catalog.path(table.name): _known_table(catalog, table) for table in catalog.tables() if table.options or catalog.options(table.name)
    }


def _known_table(catalog: Catalog, table: Table) -> KnownTable:
    options, path = table.options, catalog.path(table.name)
    connector = options.get("connector") or catalog.options(table.name).get("type", "")
    physical = tuple(SchemaField(column.name, column.type or None) for column in table.columns or () if column.kind is ColumnKind.PHYSICAL)
    dataset = dataset_of(options, catalog.options(table.name), path)
    if connector not in _KAFKA:
        return KnownTable(path, connector, dataset, fields=physical)
    topics = tuple(topic.strip() for topic in options.get("topic", "").split(";") if topic.strip())
    servers = options.get("properties.bootstrap.servers", "")
    group = options.get("properties.group.id", "")
    fields, columns = of_topic(physical, options)
    return KnownTable(path, connector, dataset, servers, topics, options.get("topic-pattern", ""), group, fields, columns)


def _fitting(pattern: str, shared: SharedMetadata, servers: str) -> tuple[str, ...]:
    """Return the topics whose names match a Java pattern; none if Python does not support the pattern."""
    cluster = shared.cluster(servers)
    if not pattern or cluster is None or cluster.topics is None:
        return ()
    try:
        fits = re.compile(pattern).fullmatch
    except re.error:
        return ()
    return tuple(sorted(topic for topic in cluster.topics if fits(topic)))


def _last(path: Name) -> str:
    return path[-1]
