"""Finds what statements of Confluent's Flink SQL read and write, given the definitions of earlier statements. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.flink.values import Column, OutputFlow
from lineage_bridge.sources.confluent.flink.catalog import CloudCatalog, dataset_of
from lineage_bridge.sources.confluent.flink.parse import COMPLETED, STATEMENT, Statement
from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.names import Name, written
from lineage_bridge.sql.script import CONFLUENT_FLINK, StreamingScript
from lineage_bridge.sql.statements import statement_types as st
from lineage_bridge.sql.statements.catalog import Table
from lineage_bridge.sql.statements.parsing import parse
from lineage_bridge.sql.text.cursor import StatementError
from lineage_bridge.sql.text.splitting import split
from lineage_bridge.sql.text.tokens import TokenError, tokens

_DEFINING = {"CREATE", "ALTER", "DROP"}
_MAY_DEFINE = re.compile("|".join(sorted(_DEFINING)), re.IGNORECASE)
"""A quick check that avoids tokenizing texts without these words."""
_HEAD = 5
"""The number of first words that may contain the kind of object: CREATE OR REPLACE TEMPORARY VIEW."""


class Definition(NamedTuple):
    """A statement that defines an object. A definition is kept even when its statement is no longer listed. `catalog`, `database`: the
    current ones when the statement ran.
    """

    created_us: int
    name: str
    text: str
    catalog: str
    database: str


@dataclass(frozen=True)
class StatementLineage:
    """The lineage of a statement. `errors`: parse errors, and contradictions with what Flink reports.

    `defines`: whether the statement defines an object.
    """

    inputs: tuple[DatasetName, ...] = ()
    outputs: tuple[DatasetName, ...] = ()
    entries: tuple[OutputFlow, ...] = ()
    models: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    defines: bool = False

    @property
    def is_job(self) -> bool:
        """Whether the statement reads or writes any table."""
        return bool(self.inputs or self.outputs)


@dataclass
class _Collected:
    """The lineage of all statements in a text. `reads`: the inputs of each output."""

    whole: Lineage = field(default_factory=Lineage)
    reads: dict[Name, dict[Name, None]] = field(default_factory=dict)


def defines(text: str) -> bool:
    """Whether the text of a statement may define a table, view or model."""
    return _MAY_DEFINE.search(text) is not None and not _first_words(text, 1).isdisjoint(_DEFINING)


def _first_words(text: str, count: int) -> set[str]:
    """The first words of a text, in upper case."""
    try:
        return {token.upper for token in tokens(text)[:count]}
    except TokenError as error:
        return {token.upper for token in error.before[:count]}


def definition_of(statement: Statement) -> Definition:
    """Make the definition to keep of a statement that defines an object."""
    return Definition(statement.created_us or 0, statement.name, mask_text(statement.text), statement.catalog, statement.database)


def creates(text: str, *kinds: str) -> bool:
    """Whether a statement creates an object of one of these kinds: MATERIALIZED (table), VIEW, MODEL."""
    return defines(text) and _first_words(text, 1) == {"CREATE"} and not _first_words(text, _HEAD).isdisjoint(kinds)


class StatementReader:
    """Reads the statements of an environment, in the order of their creation."""

    def __init__(self, catalog: CloudCatalog) -> None:
        self.catalog = catalog
        self._script = StreamingScript(CONFLUENT_FLINK, catalog=catalog)
        self._current: dict[Name, list[Definition]] = {}

    def preload(self, definitions: Iterable[Definition]) -> None:
        """Apply the first definitions of views and models, because statements that are read before the newest definitions may use them."""
        for definition in sorted(definitions, reverse=True):
            if creates(definition.text, "VIEW", "MODEL"):
                self._execute(definition)

    def define(self, definition: Definition) -> None:
        """Apply a stored definition whose statement is no longer listed."""
        self._execute(definition)
        self._remember(definition)

    def _execute(self, definition: Definition) -> None:
        self.catalog.set_current(definition.catalog, definition.database)
        for _ in self._script.read(definition.text):
            pass

    def current_definitions(self) -> set[Definition]:
        """The definitions that were neither replaced nor dropped."""
        return {definition for definitions in self._current.values() for definition in definitions}

    def declared_tables(self) -> dict[DatasetName, Table]:
        """Return the table that the current definitions declare for each topic."""
        tables = {table.name: table for table in self.catalog.tables()}
        return {dataset: tables[path] for path in self._current if path in tables and (dataset := dataset_of(path))}

    def read(self, statement: Statement) -> StatementLineage:
        """Return what a statement reads and writes. A definition in it takes effect only when the statement is completed."""
        is_definition = defines(statement.text)
        if is_definition and statement.phase != COMPLETED and not _fills(statement.text):
            return StatementLineage(defines=True)
        self.catalog.set_current(statement.catalog, statement.database)
        collected = _Collected()
        for _, lineage in self._script.read(statement.text):
            collected.whole.add(lineage)
            for name in lineage.outputs:
                collected.reads.setdefault(name, {}).update(lineage.inputs)
        if is_definition and statement.kind == STATEMENT:
            self._remember(definition_of(statement))
        return self._lineage(collected, statement, is_definition=is_definition)

    def _lineage(self, collected: _Collected, statement: Statement, *, is_definition: bool) -> StatementLineage:
        whole = collected.whole
        errors = [f"line {error.line}, column {error.column}: {error.message}" for error in whole.errors]
        without_database = [name[-1:] for name in dict.fromkeys((*whole.inputs, *whole.outputs)) if not name[-2]]
        errors += [f"{written(name)}: the statement sets no database, so the name denotes no topic" for name in without_database]
        inputs = {dataset: None for name in whole.inputs if (dataset := self._dataset(name))}
        outputs = {dataset: None for name in whole.outputs if (dataset := self._dataset(name))}
        entries = {
            dataset: self._entry(name, dataset, read, whole) for name, read in collected.reads.items() if (dataset := self._dataset(name))
        }
        not_read, not_reported = _compare_offsets(statement, inputs)
        database = dataset_of(self.catalog.path(("",)))
        if not_read and database:
            more = tuple((database[0], topic) for topic in not_read)
            inputs.update(dict.fromkeys(more))
            if len(entries) == 1:
                ((target, only),) = entries.items()
                entries = {target: OutputFlow(target, (*only.inputs, *more), only.fields, only.deciding)}
        if not_read:
            errors.append(f"Flink reports that the statement reads {', '.join(not_read)}, but its SQL does not")
        if not_reported:
            errors.append(f"the statement's SQL reads {', '.join(not_reported)}, but Flink reports no offsets for these topics")
        models = tuple(sorted(written(name) for name in whole.models))
        return StatementLineage(tuple(inputs), tuple(outputs), tuple(entries.values()), models, tuple(errors), is_definition)

    def _dataset(self, name: Name) -> DatasetName | None:
        return dataset_of(self.catalog.path(name))

    def _entry(self, target: Name, dataset: DatasetName, read: Iterable[Name], whole: Lineage) -> OutputFlow:
        fields: dict[str, list[Column]] = {}
        for flow in whole.columns:
            column = self.catalog.column(target, flow.out_column) if flow.out_table == target else ""
            source = self._column(flow.in_table, flow.in_column)
            if column and source:
                fields.setdefault(column, []).append((*source, flow.subtype.name))
        deciding: list[Column] = []
        for influence in whole.indirect:
            source = self._column(influence.in_table, influence.in_column) if influence.out_table == target else None
            if source:
                deciding.append((*source, influence.kind))
        inputs = tuple(dict.fromkeys(found for name in read if (found := self._dataset(name))))
        columns = {name: tuple(dict.fromkeys(sources)) for name, sources in fields.items()}
        return OutputFlow(dataset, inputs, columns, tuple(dict.fromkeys(deciding)))

    def _column(self, table: Name, name: str) -> tuple[DatasetName, str] | None:
        dataset, column = self._dataset(table), self.catalog.column(table, name)
        return (dataset, column) if dataset and column else None

    def _remember(self, definition: Definition) -> None:
        for statement in _parsed(definition.text):
            if isinstance(statement, st.DefineTable | st.DefineView | st.DefineModel):
                self._current[self.catalog.path(statement.name)] = [definition]
            elif isinstance(statement, st.ChangeColumns):
                self._current.setdefault(self.catalog.path(statement.table), []).append(definition)
            elif isinstance(statement, st.Drop):
                self._current.pop(self.catalog.path(statement.name), None)


def _fills(text: str) -> bool:
    """Whether a statement defines a table and also writes to it."""
    return any(isinstance(statement, st.DefineTable) and statement.query is not None for statement in _parsed(text))


def _parsed(text: str) -> Iterator[st.Statement]:
    try:
        for statement in split(tokens(text)):
            yield parse(statement, ksql=False)
    except (StatementError, TokenError, RecursionError):
        return


def _compare_offsets(statement: Statement, inputs: Mapping[DatasetName, None]) -> tuple[list[str], list[str]]:
    """Compare the topics that a statement's text reads with those for which Flink reports offsets. Returns the topics for which only Flink
    reports offsets, and the topics that only the text names.
    """
    read, reported = {topic for _, topic in inputs}, statement.offsets
    not_read = [name for name in reported if name not in read and not any(name.endswith(f".{topic}") for topic in read)]
    not_reported = [topic for topic in sorted(read) if not any(name == topic or name.endswith(f".{topic}") for name in reported)]
    return not_read, not_reported if reported else []
