"""What happened to the statements of Flink, as events and as what is remembered. Pure.

A statement is a job; its run goes on until it ends, and a statement that is resumed, or made anew under its name, is a new run.
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
from lineage_bridge.sources.confluent.flink.answers import ENDED, FAILED, PENDING, STOPPED, WAITING, WORKING, Failure, Statement
from lineage_bridge.sources.confluent.flink.catalog import REGISTERED
from lineage_bridge.sources.confluent.flink.parse import Meaning
from lineage_bridge.sources.confluent.organization import Estate

TELLER = EventBuilder("https://lineagebridge.dev/sources/confluent/flink")
Remembered = Mapping[str, Any]
"""What the snapshot has of a statement, as JSON."""


class Place(NamedTuple):
    """Where statements are: environment, `cloud.region`, and the seconds that are promised between two events."""

    environment: str
    region: str
    period_s: int


def job_of(statement: Statement, place: Place, whole: Estate) -> DatasetName:
    """The job that a statement is: in the namespace of the cluster that is current in it, else in that of its region."""
    environment = whole.environment(statement.catalog) if statement.catalog else None
    cluster = whole.cluster(statement.database, environment.id if environment else place.environment) if statement.database else None
    space = cluster.space if cluster else f"confluent://{place.environment}/{place.region}"
    return space, f"flink/{statement.name}"


class Life:
    """What one poll tells of statements."""

    def __init__(self, place: Place, whole: Estate, around: SharedMetadata, now_us: int) -> None:
        self.place, self.whole, self.around, self.now_us = place, whole, around, now_us

    def of(
        self, statement: Statement, meaning: Meaning | None, was: Remembered | None, failure: Failure | None
    ) -> tuple[Remembered | None, list[Json]]:
        """What is to be remembered of a statement and told. `meaning` is None if it is as it was told before."""
        events = [*self.ended(was)] if was and was["uid"] != statement.uid else []
        was = was if was and was["uid"] == statement.uid else None
        if was is None and not self._begins(statement, meaning):
            return None, events
        if was and was["ended"] and (statement.phase in ENDED or statement.phase in WAITING):
            return was, events
        if was and statement.phase not in (PENDING, *WORKING, *ENDED):
            return was, events
        return self._goes_on(statement, meaning, was, failure, events)

    def ended(self, was: Remembered) -> Iterator[Json]:
        """What is told of a statement that is there no more."""
        if not was["ended"]:
            yield TELLER.run_event("ABORT", self.now_us, was["run"], (was["job"][0], was["job"][1]))

    def _begins(self, statement: Statement, meaning: Meaning | None) -> bool:
        """Whether a statement that nobody was told of is to be told. One that only shows rows is a job if it goes on till it is stopped."""
        if meaning is None or not meaning.moves:
            return False
        return bool(meaning.outputs) or (statement.phase in (*WORKING, *WAITING, STOPPED) and not statement.bounded)

    def _goes_on(
        self, statement: Statement, meaning: Meaning | None, was: Remembered | None, failure: Failure | None, events: list[Json]
    ) -> tuple[Remembered, list[Json]]:
        again = was["again"] + was["ended"] if was else 0
        resumed = bool(was and was["ended"])
        begun = was if not resumed else None
        job = job_of(statement, self.place, self.whole)
        run = str(run_id("confluent-flink", self.place.environment, self.place.region, statement.name, statement.uid, again))
        content = self._content(statement, meaning) if meaning else None
        sides = [[[one["namespace"], one["name"]] for one in side] for side in (content.inputs, content.outputs)] if content else None
        entry: dict[str, Any] = {
            "uid": statement.uid,
            "run": run,
            "again": again,
            "job": list(job),
            "phase": statement.phase,
            "ended": statement.phase in ENDED,
            "sides": sides or (was["sides"] if was else [[], []]),
            "told": _hash(content._asdict()) if content else was["told"] if was else "",
            "state": "",
            "models": list(meaning.models) if meaning else was["models"] if was else [],
            "counts": _counted(statement, begun["counts"] if begun else {}),
        }
        state = self._state(statement, entry["models"])
        entry["state"] = _hash(state)
        bare = RunContent({}, {}, *([{"namespace": space, "name": name} for space, name in side] for side in entry["sides"]))
        if begun is None:
            told = content or bare
            since = self.now_us - 2 if resumed else min(statement.created_us or self.now_us - 2, self.now_us - 2)
            events.append(TELLER.run_event("START", since, run, job, **told._asdict()))
            told = bare
        else:
            told = content if content and begun["told"] != entry["told"] else bare
        if statement.phase not in (*WORKING, *ENDED):
            return entry, events
        if begun is not None and told is bare and begun["state"] != entry["state"]:
            told = bare._replace(job_facets=state)
        kind, at_us = ENDED.get(statement.phase, "RUNNING"), self.now_us
        if entry["ended"]:
            at_us = min(max(statement.updated_us or self.now_us, statement.created_us or 0), self.now_us) if begun is None else self.now_us
            told = told._replace(run_facets={**told.run_facets, **_error(statement, failure)})
        told = told._replace(inputs=_with_counts(told.inputs, entry["counts"]))
        events.append(TELLER.run_event(kind, at_us, run, job, **told._asdict()))
        return entry, events

    def _content(self, statement: Statement, meaning: Meaning) -> RunContent:
        processing = "BATCH" if statement.bounded or not meaning.inputs else "STREAMING"
        job: dict[str, Json] = {
            "jobType": TELLER.job_type(processing, "FLINK", statement.kind, self.place.period_s),
            "sql": TELLER.sql(mask_text(statement.shown), "confluent-flink"),
            **self._state(statement, meaning.models),
        }
        if meaning.outputs:
            told = [entry_json(entry) for entry in meaning.entries]
            job["lineage"] = TELLER.lineage([one if one.get("inputs") or one.get("fields") else {**one, "inputs": []} for one in told])
        run: dict[str, Json] = {}
        if meaning.errors:
            errors: list[Json] = [{"errorMessage": mask_text(error)} for error in meaning.errors]
            run["extractionError"] = TELLER.extraction_error(1, 1, errors)
        entries = {entry.target: entry for entry in meaning.entries}
        outputs = [
            TELLER.dataset(name, {**self._schema(statement, meaning, name), **column_lineage(entries.get(name), TELLER)})
            for name in meaning.outputs
        ]
        return RunContent(run, job, [TELLER.dataset(name) for name in meaning.inputs], outputs)

    def _schema(self, statement: Statement, meaning: Meaning, output: DatasetName) -> Mapping[str, Json]:
        """The columns of an only output, where no registry tells them."""
        known = self.around.schemas.get((output, VALUE))
        if (known and known.rank == REGISTERED) or len(meaning.outputs) > 1 or not statement.schema:
            return {}
        fields: tuple[SchemaField, ...] = statement.schema
        return {"schema": TELLER.schema(schema_fields(fields))}

    def _state(self, statement: Statement, models: Iterable[str]) -> dict[str, Json]:
        """What may change of a statement while it runs."""
        members: Json = {
            "statement": statement.name,
            "environment_id": self.place.environment,
            "region": self.place.region,
            "phase": statement.phase,
            "detail": mask_text(statement.detail),
            "uid": statement.uid,
            "compute_pool_id": statement.pool,
            "principal": statement.principal,
            "principal_name": self.around.names.get(statement.principal, ""),
            "sql_kind": statement.sql_kind,
            "bounded": statement.bounded,
            "models": list(models),
            **statement.more,
        }
        told = {key: value for key, value in members.items() if value not in ("", [], None)}
        facets = {"confluent_flink_statement": TELLER.own_facet("1-0-0", "ConfluentFlinkStatementJobFacet", **told)}
        if statement.principal:
            facets["ownership"] = TELLER.ownership("Job", self.around.names.get(statement.principal, statement.principal))
        return facets


def _error(statement: Statement, failure: Failure | None) -> dict[str, Json]:
    if statement.phase != FAILED:
        return {}
    message = statement.detail or (failure.message if failure else "") or "the statement failed; Flink does not say why"
    return {"errorMessage": TELLER.error_message(mask_text(message), mask_text(failure.trace if failure else ""))}


def _counted(statement: Statement, was: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Topic to its position, and how far it went since the run was first seen. A position that fell was set back."""
    counts = {topic: list(value) for topic, value in was.items()}
    for topic, position in statement.offsets.items():
        if position is not None:
            last, total = was.get(topic, (position, 0))
            counts[topic] = [position, total + max(0, position - last)]
    return counts


def _with_counts(inputs: list[Json], counts: Mapping[str, list[int]]) -> list[Json]:
    rows = {topic: total for topic, (_, total) in counts.items()}
    return [
        {**one, "inputFacets": {"inputStatistics": TELLER.input_statistics(rows=rows[str(one["name"])])}} if one["name"] in rows else one
        for one in inputs
    ]


def _hash(value: Mapping[str, Any]) -> str:
    return hashlib.blake2b(encode(dict(value)), digest_size=12).hexdigest()
