"""Converts Flink statements to OpenLineage events. Pure.

A statement is a job. Its run lasts until the statement ends; a statement that is resumed, or created again under its name, gets a new run.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, RunContent, encode, run_id, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.flink.facets import column_lineage, entry_json
from lineage_bridge.sources.common.shared_metadata import VALUE, SharedMetadata
from lineage_bridge.sources.confluent.flink.catalog import REGISTERED
from lineage_bridge.sources.confluent.flink.lineage import StatementLineage
from lineage_bridge.sources.confluent.flink.parse import ENDED, FAILED, PENDING, STOPPED, WAITING, WORKING, Failure, Statement
from lineage_bridge.sources.confluent.organization import Organization

PRODUCER = EventBuilder("https://lineagebridge.dev/sources/confluent/flink")
StatementState = Mapping[str, Any]
"""A statement's part of the snapshot, as JSON."""


class FlinkScope(NamedTuple):
    """The environment and region in which statements run. `region`: `cloud.region`; `period_s`: seconds between heartbeats."""

    environment: str
    region: str
    period_s: int


def job_of(statement: Statement, scope: FlinkScope, organization: Organization) -> DatasetName:
    """Return the name of a statement's job. Its namespace is that of the statement's current Kafka cluster, else that of its region."""
    environment = organization.environment(statement.catalog) if statement.catalog else None
    in_environment = environment.id if environment else scope.environment
    cluster = organization.cluster(statement.database, in_environment) if statement.database else None
    namespace = cluster.namespace if cluster else f"confluent://{scope.environment}/{scope.region}"
    return namespace, f"flink/{statement.name}"


class StatementEvents:
    """Converts the statements of one region, as one poll found them, to events."""

    def __init__(self, scope: FlinkScope, organization: Organization, shared: SharedMetadata, now_us: int) -> None:
        self._scope, self._organization, self._shared, self._now_us = scope, organization, shared, now_us

    def statement_events(
        self, statement: Statement, lineage: StatementLineage | None, previous: StatementState | None, failure: Failure | None
    ) -> tuple[StatementState | None, list[Json]]:
        """Return a statement's part of the snapshot, and the events about it. `lineage` is None if it has not changed since the
        last poll.
        """
        is_other = bool(previous and previous["uid"] != statement.uid)
        events = [*self.abort_events(previous)] if previous and is_other else []
        before = None if is_other else previous
        if before is None and not self._is_reported(statement, lineage):
            return None, events
        if before and before["ended"] and (statement.phase in ENDED or statement.phase in WAITING):
            return before, events
        if before and statement.phase not in (PENDING, *WORKING, *ENDED):
            return before, events
        state, more = self._continue(statement, lineage, before, failure)
        return state, [*events, *more]

    def abort_events(self, state: StatementState) -> Iterator[Json]:
        """Yield the event that aborts the open run of a statement that no longer exists."""
        if not state["ended"]:
            yield PRODUCER.run_event("ABORT", self._now_us, state["run"], (state["job"][0], state["job"][1]))

    def _is_reported(self, statement: Statement, lineage: StatementLineage | None) -> bool:
        """Whether to report a new statement as a job: one that writes, or that returns rows until it is stopped."""
        if lineage is None or not lineage.is_job:
            return False
        return bool(lineage.outputs) or (statement.phase in (*WORKING, *WAITING, STOPPED) and not statement.bounded)

    def _continue(
        self, statement: Statement, lineage: StatementLineage | None, previous: StatementState | None, failure: Failure | None
    ) -> tuple[StatementState, list[Json]]:
        is_resumed = bool(previous and previous["ended"])
        open_run = None if is_resumed else previous
        content = self._content(statement, lineage) if lineage else None
        state = self._new_state(statement, lineage, content, previous)
        facets = self._state_facets(statement, state["models"])
        state["state"] = _hash(facets)
        names_only = RunContent({}, {}, *([{"namespace": namespace, "name": name} for namespace, name in side] for side in state["sides"]))
        events: list[Json] = []
        if open_run is None:
            latest = self._now_us - 2
            began = latest if is_resumed else min(statement.created_us or latest, latest)
            in_full = content or names_only
            events.append(PRODUCER.run_event("START", began, state["run"], _job(state), **in_full._asdict()))
            news = names_only
        else:
            news = content if content and open_run["told"] != state["told"] else names_only
        if statement.phase not in (*WORKING, *ENDED):
            return state, events
        if open_run is not None and news is names_only and open_run["state"] != state["state"]:
            news = names_only._replace(job_facets=facets)
        at_us = self._now_us
        if state["ended"]:
            if open_run is None:
                at_us = min(max(statement.updated_us or self._now_us, statement.created_us or 0), self._now_us)
            news = news._replace(run_facets={**news.run_facets, **_error(statement, failure)})
        news = news._replace(inputs=_with_counts(news.inputs, state["counts"]))
        events.append(PRODUCER.run_event(ENDED.get(statement.phase, "RUNNING"), at_us, state["run"], _job(state), **news._asdict()))
        return state, events

    def _new_state(
        self, statement: Statement, lineage: StatementLineage | None, content: RunContent | None, previous: StatementState | None
    ) -> dict[str, Any]:
        """Make a statement's part of the snapshot. `again`: how often the statement was resumed; `sides`: the names of its inputs and
        outputs; `counts`: its offsets and rows by topic.
        """
        again = previous["again"] + previous["ended"] if previous else 0
        sides = (
            [[[dataset["namespace"], dataset["name"]] for dataset in side] for side in (content.inputs, content.outputs)]
            if content
            else None
        )
        return {
            "uid": statement.uid,
            "run": str(run_id("confluent-flink", self._scope.environment, self._scope.region, statement.name, statement.uid, again)),
            "again": again,
            "job": list(job_of(statement, self._scope, self._organization)),
            "phase": statement.phase,
            "ended": statement.phase in ENDED,
            "sides": sides or (previous["sides"] if previous else [[], []]),
            "told": _hash(content._asdict()) if content else previous["told"] if previous else "",
            "state": "",
            "models": list(lineage.models) if lineage else previous["models"] if previous else [],
            "counts": _counts(statement, previous["counts"] if previous and not previous["ended"] else {}),
        }

    def _content(self, statement: Statement, lineage: StatementLineage) -> RunContent:
        processing = "BATCH" if statement.bounded or not lineage.inputs else "STREAMING"
        job: dict[str, Json] = {
            "jobType": PRODUCER.job_type(processing, "FLINK", statement.kind, self._scope.period_s),
            "sql": PRODUCER.sql(mask_text(statement.shown), "confluent-flink"),
            **self._state_facets(statement, lineage.models),
        }
        if lineage.outputs:
            json = [entry_json(entry) for entry in lineage.entries]
            job["lineage"] = PRODUCER.lineage(
                [entry if entry.get("inputs") or entry.get("fields") else {**entry, "inputs": []} for entry in json]
            )
        run: dict[str, Json] = {}
        if lineage.errors:
            errors: list[Json] = [{"errorMessage": mask_text(error)} for error in lineage.errors]
            run["extractionError"] = PRODUCER.extraction_error(1, 1, errors)
        entries = {entry.target: entry for entry in lineage.entries}
        outputs = [
            PRODUCER.dataset(name, {**self._schema(statement, lineage, name), **column_lineage(entries.get(name), PRODUCER)})
            for name in lineage.outputs
        ]
        return RunContent(run, job, [PRODUCER.dataset(name) for name in lineage.inputs], outputs)

    def _schema(self, statement: Statement, lineage: StatementLineage, output: DatasetName) -> Mapping[str, Json]:
        """Return the schema facet of a statement's only output, unless a registry has the schema."""
        registered = self._shared.schemas.get((output, VALUE))
        if (registered and registered.rank == REGISTERED) or len(lineage.outputs) > 1 or not statement.schema:
            return {}
        fields: tuple[SchemaField, ...] = statement.schema
        return {"schema": PRODUCER.schema(schema_fields(fields))}

    def _state_facets(self, statement: Statement, models: Iterable[str]) -> dict[str, Json]:
        """The facets that may change while a statement runs."""
        members: Json = {
            "statement": statement.name,
            "environment_id": self._scope.environment,
            "region": self._scope.region,
            "phase": statement.phase,
            "detail": mask_text(statement.detail),
            "uid": statement.uid,
            "compute_pool_id": statement.pool,
            "principal": statement.principal,
            "principal_name": self._shared.names.get(statement.principal, ""),
            "sql_kind": statement.sql_kind,
            "bounded": statement.bounded,
            "models": list(models),
            **statement.more,
        }
        given = {key: value for key, value in members.items() if value not in ("", [], None)}
        facets = {"confluent_flink_statement": PRODUCER.own_facet("1-0-0", "ConfluentFlinkStatementJobFacet", **given)}
        if statement.principal:
            facets["ownership"] = PRODUCER.ownership("Job", self._shared.names.get(statement.principal, statement.principal))
        return facets


def _job(state: StatementState) -> DatasetName:
    return state["job"][0], state["job"][1]


def _error(statement: Statement, failure: Failure | None) -> dict[str, Json]:
    if statement.phase != FAILED:
        return {}
    message = statement.detail or (failure.message if failure else "") or "the statement failed; Flink does not report why"
    return {"errorMessage": PRODUCER.error_message(mask_text(message), mask_text(failure.trace if failure else ""))}


def _counts(statement: Statement, previous: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return, for each topic, the sum of its offsets and the rows read since the run was first seen. A sum that decreased was reset,
    and adds no rows.
    """
    counts = {topic: list(count) for topic, count in previous.items()}
    for topic, offset in statement.offsets.items():
        if offset is not None:
            last, total = previous.get(topic, (offset, 0))
            counts[topic] = [offset, total + max(0, offset - last)]
    return counts


def _with_counts(inputs: list[Json], counts: Mapping[str, list[int]]) -> list[Json]:
    rows = {topic: total for topic, (_, total) in counts.items()}
    return [
        {**dataset, "inputFacets": {"inputStatistics": PRODUCER.input_statistics(rows=rows[str(dataset["name"])])}}
        if dataset["name"] in rows
        else dataset
        for dataset in inputs
    ]


def _hash(value: Mapping[str, Any]) -> str:
    return hashlib.blake2b(encode(dict(value)), digest_size=12).hexdigest()
