"""Converts one poll of a Flink region to events: statements, materialized tables, and topics that definitions declare. Pure."""

import hashlib
from collections.abc import Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import Json, encode, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, topic_columns
from lineage_bridge.sources.confluent.flink.catalog import REGISTERED, CloudCatalog, declared_fields
from lineage_bridge.sources.confluent.flink.events import PRODUCER, FlinkScope, StatementEvents
from lineage_bridge.sources.confluent.flink.lineage import Definition, StatementLineage, StatementReader, creates, defines, definition_of
from lineage_bridge.sources.confluent.flink.parse import COMPLETED, ENDED, FAILED, MATERIALIZED_TABLE, FlinkAnswers, Statement
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sql.statements.catalog import Table


class RegionTranslation:
    """Converts one poll of a Flink region to events.

    The snapshot contains: `statements` and `tables`, each a mapping from the name to the StatementState with its `basis`; `definitions`,
    which are those that were neither replaced nor dropped; `declared`, a mapping from namespace and topic to what the definitions declare
    about the topic; `failed`, a mapping from the name of a failed statement to its uid.
    """

    def __init__(
        self, scope: FlinkScope, organization: Organization, answers: FlinkAnswers, before: Snapshot, shared: SharedMetadata, now_us: int
    ) -> None:
        self._answers, self._before, self._shared, self._now_us = answers, before, shared, now_us
        self._reader = StatementReader(CloudCatalog(organization, scope.environment, shared))
        self._builder = StatementEvents(scope, organization, shared, now_us)
        self._events: list[Json] = []
        self._states: dict[str, dict[str, Any]] = {"statements": {}, "tables": {}}
        self._unseen = list(answers.unseen)
        names: list[tuple[str, ...]] = [(environment.id, environment.name) for environment in organization.environments]
        names += [(cluster.id, cluster.environment, cluster.name) for cluster in organization.kafka_clusters]
        self._definitions_digest = hashlib.blake2b(repr(names).encode(), digest_size=12)
        self._filled: set[DatasetName] = set()
        """The topics of materialized tables."""

    def observation(self) -> Observation:
        """Return the events and the next snapshot. To be called once."""
        answers = self._answers
        listed = {statement.name for statement in answers.statements}
        earlier = [Definition(*entry) for entry in self._before["definitions"]]
        tables = list(answers.tables or ())
        self._filled = {(f"confluent://{table.catalog}/{table.database}", table.name) for table in tables}
        in_order: list[tuple[int, str, Definition | Statement]] = [
            (definition.created_us, definition.name, definition) for definition in earlier if definition.name not in listed
        ]
        in_order += [(statement.created_us or 0, statement.name, statement) for statement in (*answers.statements, *tables)]
        completed = [statement for statement in answers.statements if statement.phase == COMPLETED and defines(statement.text)]
        self._reader.preload([*earlier, *map(definition_of, completed)])
        for _, _, entry in sorted(in_order, key=lambda entry: entry[:2]):
            if isinstance(entry, Definition):
                self._reader.define(entry)
                self._definitions_digest.update(entry.text.encode())
            else:
                self._translate_statement(entry)
        self._translate_gone("statements", answers.hidden)
        self._translate_gone("tables", answers.hidden_tables)
        snapshot = {
            **{kind: dict(sorted(states.items())) for kind, states in self._states.items()},
            "definitions": [list(definition) for definition in sorted(self._reader.current_definitions())],
            "declared": self._declared_topics(),
            "failed": {statement.name: statement.uid for statement in answers.statements if statement.phase == FAILED},
        }
        return Observation(snapshot, tuple(self._events), unseen=tuple(self._unseen))

    def _translate_statement(self, statement: Statement) -> None:
        kind = "tables" if statement.kind == MATERIALIZED_TABLE else "statements"
        previous = self._before[kind].get(statement.name)
        is_definition = kind == "statements" and defines(statement.text)
        lineage: StatementLineage | None = None
        if is_definition or not self._is_unchanged(statement, previous):
            lineage = self._reader.read(statement)
        if is_definition:
            self._definitions_digest.update(statement.text.encode())
            if creates(statement.text, "MATERIALIZED") and lineage and self._filled.intersection(lineage.outputs):
                return
        if lineage and not (lineage.is_job or previous):
            if lineage.errors and statement.phase != FAILED:
                self._unseen.append(Unseen(f"statement {statement.name}", "; ".join(map(mask_text, lineage.errors))))
            return
        failure = self._answers.failures.get(statement.name)
        state, events = self._builder.statement_events(statement, lineage, previous, failure)
        self._events += events
        if state is not None:
            self._states[kind][statement.name] = {**state, "basis": self._basis(statement, state["sides"])}

    def _is_unchanged(self, statement: Statement, previous: Mapping[str, Any] | None) -> bool:
        """Whether a statement need not be read again: it has ended for good, or its lineage is that of the last poll."""
        if not previous or previous["uid"] != statement.uid:
            return False
        is_over = previous["ended"] and statement.phase in ENDED
        return is_over or previous["basis"] == self._basis(statement, previous["sides"])

    def _basis(self, statement: Statement, sides: list[list[list[str]]]) -> str:
        """Return a digest of everything on which a statement's lineage depends, apart from the statement's text."""
        columns = [self._reader.catalog.fingerprint((namespace, name)) for side in sides for namespace, name in side]
        basis = (self._definitions_digest.hexdigest(), columns, sorted(statement.offsets))
        return hashlib.blake2b(repr(basis).encode(), digest_size=12).hexdigest()

    def _translate_gone(self, kind: str, hidden: frozenset[str] | None) -> None:
        """Abort the runs of deleted statements, and keep the state of `hidden` ones. If `hidden` is None, every statement that is
        not listed may be hidden.
        """
        listed = {statement.name for statement in self._answers.statements}
        for name, state in sorted(self._before[kind].items()):
            if name in self._states[kind] or (kind == "statements" and name in listed and state["ended"]):
                continue
            if hidden is None or name in hidden:
                self._states[kind][name] = state
            else:
                self._events += self._builder.abort_events(state)

    def _declared_topics(self) -> dict[str, dict[str, Any]]:
        """Return what definitions declare about topics, for the snapshot. Emits new declarations, and deletes facets that are no
        longer declared.
        """
        found: dict[str, dict[str, Any]] = {}
        for name, table in sorted(self._reader.declared_tables().items()):
            keys, values = declared_fields(table)
            facets = self._declared_facets(name, table, keys, values)
            previous = self._before["declared"].get(name[0], {}).get(name[1], {"facets": [], "told": ""})
            fingerprint = _hash(facets)
            is_registered = self._is_registered(name)
            gone = [key for key in previous["facets"] if key not in facets and not (key == "schema" and is_registered)]
            if (facets or gone) and fingerprint != previous["told"]:
                withdrawn = dict.fromkeys(gone, PRODUCER.deleted_facet())
                self._events.append(PRODUCER.dataset_event(self._now_us, name, {**facets, **withdrawn}))
            found.setdefault(name[0], {})[name[1]] = {
                KEY: [[field.name, field.type, field.description] for field in keys],
                VALUE: [[field.name, field.type, field.description] for field in values],
                "facets": sorted(facets),
                "told": fingerprint,
            }
        self._withdraw_undeclared(found)
        return found

    def _declared_facets(
        self, name: DatasetName, table: Table, keys: tuple[SchemaField, ...], values: tuple[SchemaField, ...]
    ) -> dict[str, Json]:
        facets: dict[str, Json] = {}
        is_typed = any(field.type for field in (*keys, *values))
        if is_typed and not self._is_registered(name):
            facets["schema"] = PRODUCER.schema(schema_fields(topic_columns(keys, values)))
        if table.comment and name not in self._shared.described:
            facets["documentation"] = PRODUCER.documentation("Dataset", table.comment)
        return facets

    def _withdraw_undeclared(self, declared: Mapping[str, Mapping[str, Any]]) -> None:
        for namespace, topics in sorted(self._before["declared"].items()):
            for topic, previous in sorted(topics.items()):
                name = (namespace, topic)
                gone = [key for key in previous["facets"] if key != "schema" or not self._is_registered(name)]
                if gone and topic not in declared.get(namespace, {}):
                    self._events.append(PRODUCER.dataset_event(self._now_us, name, dict.fromkeys(gone, PRODUCER.deleted_facet())))

    def _is_registered(self, name: DatasetName) -> bool:
        """Whether a schema registry has a schema of the topic."""
        schemas = (self._shared.schemas.get((name, side)) for side in (KEY, VALUE))
        return any(schema and schema.rank == REGISTERED for schema in schemas)


def _hash(value: Mapping[str, Json]) -> str:
    return hashlib.blake2b(encode(dict(value)), digest_size=12).hexdigest()
