"""What statements of Confluent's Flink do, each with what those before it defined. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.flink.values import Column, OutputFlow
from lineage_bridge.sources.confluent.flink.answers import COMPLETED, STATEMENT, Statement
from lineage_bridge.sources.confluent.flink.catalog import CloudCatalog, dataset_of
from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.names import Name, written
from lineage_bridge.sql.script import CONFLUENT_FLINK, Script
from lineage_bridge.sql.statements import statements as st
from lineage_bridge.sql.statements.catalog import Table
from lineage_bridge.sql.statements.parsing import parse
from lineage_bridge.sql.text.cursor import StatementError
from lineage_bridge.sql.text.splitting import split
from lineage_bridge.sql.text.tokens import TokenError, tokens

_DEFINES = {"CREATE", "ALTER", "DROP"}
_MAY_DEFINE = re.compile("|".join(sorted(_DEFINES)), re.IGNORECASE)
"""Most texts have none of these words, so their first one is not looked for."""
_HEAD = 5
"""Words within which a statement says what it makes: CREATE OR REPLACE TEMPORARY VIEW."""


class Definition(NamedTuple):
    """A statement that defines something, as it is remembered when it is listed no more: when, its name and text, and what shorter names
    in it mean.
    """

    created_us: int
    name: str
    text: str
    catalog: str
    database: str


@dataclass(frozen=True)
class Meaning:
    """What a statement moves. `errors`: what was not understood, and where evidence differs. `defines`: whether it defines anything."""

    inputs: tuple[DatasetName, ...] = ()
    outputs: tuple[DatasetName, ...] = ()
    entries: tuple[OutputFlow, ...] = ()
    models: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    defines: bool = False

    @property
    def moves(self) -> bool:
        """Whether it is a job."""
        return bool(self.inputs or self.outputs)


@dataclass
class _Said:
    """A statement's texts, while they are put together."""

    whole: Lineage = field(default_factory=Lineage)
    reads: dict[Name, dict[Name, None]] = field(default_factory=dict)


def defines(text: str) -> bool:
    """Whether a statement may define something."""
    return _MAY_DEFINE.search(text) is not None and not _first(text, 1).isdisjoint(_DEFINES)


def _first(text: str, count: int) -> set[str]:
    """The first words of a text, in upper case."""
    try:
        return {token.upper for token in tokens(text)[:count]}
    except TokenError as error:
        return {token.upper for token in error.before[:count]}


def definition_of(statement: Statement) -> Definition:
    """What is remembered of a statement that defines something."""
    return Definition(statement.created_us or 0, statement.name, mask_text(statement.text), statement.catalog, statement.database)


def makes(text: str, *kinds: str) -> bool:
    """Whether a statement makes one of these: MATERIALIZED, VIEW, MODEL."""
    return defines(text) and _first(text, 1) == {"CREATE"} and not _first(text, _HEAD).isdisjoint(kinds)


class Reader:
    """Reads the statements of an environment, in the order in which they were made."""

    def __init__(self, catalog: CloudCatalog) -> None:
        self.catalog = catalog
        self._script = Script(CONFLUENT_FLINK, catalog=catalog)
        self._living: dict[Name, list[Definition]] = {}

    def begin(self, later: Iterable[Definition]) -> None:
        """Views and models that may be used before they are seen to be made, since they were made anew: as they were made first."""
        for known in sorted(later, reverse=True):
            if makes(known.text, "VIEW", "MODEL"):
                self._take(known)

    def define(self, known: Definition) -> None:
        """Take in what a statement defined that is listed no more."""
        self._take(known)
        self._remember(known)

    def _take(self, known: Definition) -> None:
        self.catalog.begin(known.catalog, known.database)
        for _ in self._script.read(known.text):
            pass

    def living(self) -> set[Definition]:
        """The definitions that still count: not replaced, and not dropped."""
        return {one for those in self._living.values() for one in those}

    def declared(self) -> dict[DatasetName, Table]:
        """The topics whose tables living definitions tell, as they tell them."""
        tables = {table.name: table for table in self.catalog.tables()}
        return {place: tables[path] for path in self._living if path in tables and (place := dataset_of(path))}

    def read(self, statement: Statement) -> Meaning:
        """What a statement does. What only defines counts once it is carried out."""
        is_definition = defines(statement.text)
        if is_definition and statement.phase != COMPLETED and not _fills(statement.text):
            return Meaning(defines=True)
        self.catalog.begin(statement.catalog, statement.database)
        said = _Said()
        for _, lineage in self._script.read(statement.text):
            said.whole.add(lineage)
            for name in lineage.outputs:
                said.reads.setdefault(name, {}).update(lineage.inputs)
        if is_definition and statement.kind == STATEMENT:
            self._remember(definition_of(statement))
        return self._meaning(said, statement, is_definition=is_definition)

    def _meaning(self, said: _Said, statement: Statement, *, is_definition: bool) -> Meaning:
        errors = [f"line {one.line}, column {one.column}: {one.message}" for one in said.whole.errors]
        homeless = [name[-1:] for name in dict.fromkeys((*said.whole.inputs, *said.whole.outputs)) if not name[-2]]
        errors += [f"{written(name)}: no database is current, so it names no topic" for name in homeless]
        inputs = {place: None for name in said.whole.inputs if (place := self._place(name))}
        outputs = {place: None for name in said.whole.outputs if (place := self._place(name))}
        entries = {place: self._entry(name, place, read, said.whole) for name, read in said.reads.items() if (place := self._place(name))}
        missed, untold = _compared(statement, inputs)
        home = dataset_of(self.catalog.path(("",)))
        if missed and home:
            inputs.update(((home[0], topic), None) for topic in missed)
            if len(entries) == 1:
                more = tuple((home[0], topic) for topic in missed)
                ((target, only),) = entries.items()
                entries = {target: OutputFlow(target, (*only.inputs, *more), only.fields, only.deciding)}
        if missed:
            errors.append(f"Flink tells that it reads {', '.join(missed)}, which is not found in its text")
        if untold:
            errors.append(f"its text reads {', '.join(untold)}, of which Flink tells no position")
        models = tuple(sorted(written(name) for name in said.whole.models))
        return Meaning(tuple(inputs), tuple(outputs), tuple(entries.values()), models, tuple(errors), is_definition)

    def _place(self, name: Name) -> DatasetName | None:
        return dataset_of(self.catalog.path(name))

    def _entry(self, target: Name, place: DatasetName, read: Iterable[Name], whole: Lineage) -> OutputFlow:
        fields: dict[str, list[Column]] = {}
        for flow in whole.columns:
            column = self.catalog.column(target, flow.out_column) if flow.out_table == target else ""
            source = self._column(flow.in_table, flow.in_column)
            if column and source:
                fields.setdefault(column, []).append((*source, flow.subtype.name))
        deciding: list[Column] = []
        for one in whole.indirect:
            source = self._column(one.in_table, one.in_column) if one.out_table == target else None
            if source:
                deciding.append((*source, one.kind))
        inputs = tuple(dict.fromkeys(found for name in read if (found := self._place(name))))
        return OutputFlow(
            place, inputs, {name: tuple(dict.fromkeys(those)) for name, those in fields.items()}, tuple(dict.fromkeys(deciding))
        )

    def _column(self, table: Name, name: str) -> tuple[DatasetName, str] | None:
        place, column = self._place(table), self.catalog.column(table, name)
        return (place, column) if place and column else None

    def _remember(self, known: Definition) -> None:
        for statement in _parsed(known.text):
            if isinstance(statement, st.Define | st.DefineView | st.DefineModel):
                self._living[self.catalog.path(statement.name)] = [known]
            elif isinstance(statement, st.ChangeColumns):
                self._living.setdefault(self.catalog.path(statement.table), []).append(known)
            elif isinstance(statement, st.Drop):
                self._living.pop(self.catalog.path(statement.name), None)


def ordered(statements: Iterable[Statement]) -> list[Statement]:
    """Statements in the order in which they were made."""
    return sorted(statements, key=lambda one: (one.created_us or 0, one.name))


def _fills(text: str) -> bool:
    """Whether a statement fills the table that it defines."""
    return any(isinstance(one, st.Define) and one.query is not None for one in _parsed(text))


def _parsed(text: str) -> Iterator[st.Statement]:
    try:
        for statement in split(tokens(text)):
            yield parse(statement, ksql=False)
    except (StatementError, TokenError, RecursionError):
        return


def _compared(statement: Statement, inputs: Mapping[DatasetName, None]) -> tuple[list[str], list[str]]:
    """The topics with positions that the text does not read, and the topics it reads that have none."""
    read = {topic for _, topic in inputs}
    missed = [told for told in statement.offsets if told not in read and not any(told.endswith(f".{topic}") for topic in read)]
    untold = [topic for topic in sorted(read) if not any(told == topic or told.endswith(f".{topic}") for told in statement.offsets)]
    return missed, untold if statement.offsets else []
