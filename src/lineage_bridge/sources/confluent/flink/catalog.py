"""Resolves names in Confluent's Flink SQL: a catalog is an environment, a database a Kafka cluster, a table a topic. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, topic_column
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import Catalog, ColumnKind, Model, Table, TableColumn, View

REGISTERED = 0
"""The rank of schemas from a registry."""
_PATH_LENGTH = 3
"""Parts of a path: catalog, database and table."""
_SYSTEM = "INFORMATION_SCHEMA"


class TopicColumns(NamedTuple):
    """A topic as Flink sees it: its columns in order, the name of each in the topic's schema, and the columns that `SELECT *` leaves
    out.
    """

    columns: tuple[TableColumn, ...]
    schema_names: Mapping[str, str]
    hidden: tuple[str, ...]


class CloudCatalog(Catalog):
    """The tables, views and models of an environment's statements, by path: environment, cluster and topic, by id where known."""

    def __init__(self, organization: Organization, environment: str, shared: SharedMetadata) -> None:
        super().__init__((environment, ""))
        self._organization, self._environment, self._shared = organization, environment, shared
        self._topics: dict[DatasetName, TopicColumns | None] = {}
        self._merged: dict[Name, Table] = {}
        self._fingerprints: dict[DatasetName, str] = {}

    def set_current(self, catalog: str, database: str) -> None:
        """Set the catalog and database in which shorter names are looked up."""
        self._current = (catalog or self._environment, database)

    def path(self, name: Name) -> Name:
        """Return the full path of a name: environment, cluster and topic, with ids instead of display names."""
        *above, catalog, database, last = (*self._current[: _PATH_LENGTH - len(name)], *name) if len(name) < _PATH_LENGTH else name
        environment = self._organization.environment(catalog)
        if environment is None:
            return (*above, catalog, database, last)
        cluster = self._organization.cluster(database, environment.id)
        return (*above, environment.id, cluster.id if cluster else database, last)

    def table(self, name: Name) -> Table:
        """Find the table with this name. If the schema of its topic is known, it has the columns of the topic, otherwise those of
        its definition.
        """
        path = self.path(name)
        defined = self._tables.get(path) or super().add_table(Table(path))
        dataset = dataset_of(path)
        registered = self.topic_columns(dataset) if dataset else None
        if registered is None:
            return defined
        if path not in self._merged:
            kept = [column for column in defined.columns or () if column.kind is not ColumnKind.PHYSICAL]
            columns = list(defined.columns or ()) if _has_same_columns(defined, registered) else [*registered.columns, *kept]
            self._merged[path] = replace(defined, columns=columns, hidden=registered.hidden)
        return self._merged[path]

    def add_table(self, table: Table) -> Table:
        """Define a table under its full path."""
        table.name = self.path(table.name)
        self._merged.pop(table.name, None)
        return super().add_table(table)

    def add_view(self, view: View) -> None:
        """Define a view under its full path."""
        super().add_view(View(self.path(view.name), view.query, view.columns))

    def add_model(self, model: Model) -> None:
        """Define a model under its full path."""
        super().add_model(Model(self.path(model.name), model.outputs))

    def column(self, path: Name, name: str) -> str:
        """Return the topic's column from which a column of a table is read. A column that is neither in the key nor in the value, like
        `$rowtime`, keeps its name.
        """
        dataset = dataset_of(path)
        registered = self.topic_columns(dataset) if dataset else None
        schema_name = registered.schema_names.get(name) if registered else None
        return schema_name or declared_columns(self.table(path)).get(name, name)

    def topic_columns(self, dataset: DatasetName) -> TopicColumns | None:
        """Return a topic's columns from its schema; None if no schema is known."""
        if dataset not in self._topics:
            self._topics[dataset] = _topic_columns(self._shared, dataset)
        return self._topics[dataset]

    def fingerprint(self, dataset: DatasetName) -> str:
        """Return a digest of a topic's columns."""
        if dataset not in self._fingerprints:
            self._fingerprints[dataset] = hashlib.blake2b(repr(self.topic_columns(dataset)).encode(), digest_size=12).hexdigest()
        return self._fingerprints[dataset]


def dataset_of(path: Name) -> DatasetName | None:
    """Return the dataset of the topic that a path names; None if the path has no database or names a system table."""
    if len(path) != _PATH_LENGTH or path[1] in ("", _SYSTEM):
        return None
    return f"confluent://{path[0]}/{path[1]}", path[2]


def declared_columns(table: Table) -> dict[str, str]:
    """The columns of a table that are read from the records' key, each with its field of the key. The table's options decide the field's
    name.
    """
    keys = [name for name in table.keys if any(column.name == name for column in table.columns or ())]
    prefix, is_raw = table.options.get("key.fields-prefix", ""), table.options.get("key.format") == "raw"
    return {name: topic_column(KEY, "" if is_raw else name.removeprefix(prefix)) for name in keys}


def declared_fields(table: Table) -> tuple[tuple[SchemaField, ...], tuple[SchemaField, ...]]:
    """Return the fields of a topic's keys and values that the definition of a table declares."""
    key_columns = declared_columns(table)
    physical = [column for column in table.columns or () if column.kind is ColumnKind.PHYSICAL]
    keys = [
        SchemaField(key_columns[column.name].partition(".")[2], column.type or None, column.comment or None)
        for column in physical
        if column.name in key_columns
    ]
    values = [
        SchemaField(column.name, column.type or None, column.comment or None) for column in physical if column.name not in key_columns
    ]
    return tuple(keys), tuple(values)


def _has_same_columns(table: Table, registered: TopicColumns) -> bool:
    """Whether a definition has exactly the columns of the topic's schema. If so, the order in the definition is used."""
    physical = {column.name for column in table.columns or () if column.kind is ColumnKind.PHYSICAL}
    return table.columns is not None and physical == {column.name for column in registered.columns}


def _topic_columns(shared: SharedMetadata, dataset: DatasetName) -> TopicColumns | None:
    keys, values = shared.fields(dataset, KEY), shared.fields(dataset, VALUE)
    if not keys and not values:
        return None
    names = {field.name for field in values}
    columns: list[TableColumn] = []
    schema_names: dict[str, str] = {}
    for side, whole, fields in ((KEY, "key", keys), (VALUE, "val", values)):
        for field in fields:
            name = field.name or whole
            name = f"key_{name}" if side == KEY and name in names else name
            columns.append(TableColumn(name, type=field.type or ""))
            schema_names[name] = topic_column(side, field.name)
    hidden = ("key",) if not keys and "key" not in schema_names else ()
    schema_names.update(dict.fromkeys(hidden, topic_column(KEY, "")))
    return TopicColumns(tuple(columns), schema_names, hidden)
