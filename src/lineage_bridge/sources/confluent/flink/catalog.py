"""Names in Confluent's Flink SQL: a catalog is an environment, a database a Kafka cluster, a table a topic. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, topic_column
from lineage_bridge.sources.confluent.organization import Estate
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import Catalog, Column, ColumnKind, Model, Table, View

REGISTERED = 0
"""The rank of what a schema registry knows."""
_WHOLE = 3
"""Parts of a path: catalog, database and table."""
_SYSTEM = "INFORMATION_SCHEMA"


class Known(NamedTuple):
    """A topic as Flink sees it: its columns in order, and what each is called in the topic's schema."""

    columns: tuple[Column, ...]
    calls: Mapping[str, str]
    hidden: tuple[str, ...]


class CloudCatalog(Catalog):
    """What the statements of an environment speak of. Names of tables are paths: environment, cluster, topic, by ids where known."""

    def __init__(self, whole: Estate, environment: str, around: SharedMetadata) -> None:
        super().__init__((environment, ""))
        self._whole, self._environment, self._around = whole, environment, around
        self._topics: dict[DatasetName, Known | None] = {}
        self._seen: dict[Name, Table] = {}
        self._prints: dict[DatasetName, str] = {}

    def begin(self, catalog: str, database: str) -> None:
        """From now on shorter names are of this catalog and database."""
        self._current = (catalog or self._environment, database)

    def path(self, name: Name) -> Name:
        """The whole name, with ids for display names."""
        *above, catalog, database, last = (*self._current[: _WHOLE - len(name)], *name) if len(name) < _WHOLE else name
        environment = self._whole.environment(catalog)
        if environment is None:
            return (*above, catalog, database, last)
        cluster = self._whole.cluster(database, environment.id)
        return (*above, environment.id, cluster.id if cluster else database, last)

    def table(self, name: Name) -> Table:
        """The table of a name: as it was defined, with the columns that the topic's schema has."""
        path = self.path(name)
        defined = self._tables.get(path) or super().add_table(Table(path))
        dataset = dataset_of(path)
        known = self.known(dataset) if dataset else None
        if known is None:
            return defined
        if path not in self._seen:
            kept = [column for column in defined.columns or () if column.kind is not ColumnKind.PHYSICAL]
            columns = list(defined.columns or ()) if _agree(defined, known) else [*known.columns, *kept]
            self._seen[path] = replace(defined, columns=columns, hidden=known.hidden)
        return self._seen[path]

    def add_table(self, table: Table) -> Table:
        """Define a table, by its whole name."""
        table.name = self.path(table.name)
        self._seen.pop(table.name, None)
        return super().add_table(table)

    def add_view(self, view: View) -> None:
        """Define a view, likewise."""
        super().add_view(View(self.path(view.name), view.query, view.columns))

    def add_model(self, model: Model) -> None:
        """Define a model, likewise."""
        super().add_model(Model(self.path(model.name), model.outputs))

    def column(self, path: Name, name: str) -> str:
        """The column of the topic that a column of a table is; what lies in no key or value, such as `$rowtime`, keeps its name."""
        dataset = dataset_of(path)
        known = self.known(dataset) if dataset else None
        called = known.calls.get(name) if known else None
        return called or declared_columns(self.table(path)).get(name, name)

    def known(self, dataset: DatasetName) -> Known | None:
        """A topic's columns by its schema; None if nobody knows one."""
        if dataset not in self._topics:
            self._topics[dataset] = _known(self._around, dataset)
        return self._topics[dataset]

    def fingerprint(self, dataset: DatasetName) -> str:
        """What is known of a topic's columns, in short."""
        if dataset not in self._prints:
            self._prints[dataset] = hashlib.blake2b(repr(self.known(dataset)).encode(), digest_size=12).hexdigest()
        return self._prints[dataset]


def dataset_of(path: Name) -> DatasetName | None:
    """The topic that a path names; None without a database, and for tables of the system."""
    if len(path) != _WHOLE or path[1] in ("", _SYSTEM):
        return None
    return f"confluent://{path[0]}/{path[1]}", path[2]


def declared_columns(table: Table) -> dict[str, str]:
    """Where the columns that a definition tells lie in records, by the options of its key: those in the key have other names there."""
    keys = [name for name in table.keys if any(column.name == name for column in table.columns or ())]
    prefix, is_raw = table.options.get("key.fields-prefix", ""), table.options.get("key.format") == "raw"
    return {name: topic_column(KEY, "" if is_raw else name.removeprefix(prefix)) for name in keys}


def declared_fields(table: Table) -> tuple[tuple[SchemaField, ...], tuple[SchemaField, ...]]:
    """The fields of a topic's keys and values, as a definition tells them."""
    calls = declared_columns(table)
    physical = [column for column in table.columns or () if column.kind is ColumnKind.PHYSICAL]
    keys = [
        SchemaField(calls[column.name].partition(".")[2], column.type or None, column.comment or None)
        for column in physical
        if column.name in calls
    ]
    values = [SchemaField(column.name, column.type or None, column.comment or None) for column in physical if column.name not in calls]
    return tuple(keys), tuple(values)


def _agree(table: Table, known: Known) -> bool:
    """Whether a definition tells the columns that the topic has: then its order counts."""
    physical = {column.name for column in table.columns or () if column.kind is ColumnKind.PHYSICAL}
    return table.columns is not None and physical == {column.name for column in known.columns}


def _known(around: SharedMetadata, dataset: DatasetName) -> Known | None:
    keys, values = around.fields(dataset, KEY), around.fields(dataset, VALUE)
    if not keys and not values:
        return None
    names = {field.name for field in values}
    columns: list[Column] = []
    calls: dict[str, str] = {}
    for part, whole, fields in ((KEY, "key", keys), (VALUE, "val", values)):
        for field in fields:
            name = field.name or whole
            name = f"key_{name}" if part == KEY and name in names else name
            columns.append(Column(name, type=field.type or ""))
            calls[name] = topic_column(part, field.name)
    hidden = ("key",) if not keys and "key" not in calls else ()
    calls.update(dict.fromkeys(hidden, topic_column(KEY, "")))
    return Known(tuple(columns), calls, hidden)
