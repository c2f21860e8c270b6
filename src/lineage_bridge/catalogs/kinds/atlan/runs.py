"""Converts jobs to runs that Atlan accepts: their names, the parts of an event that it processes, and the two events of each run. Pure.

Rules are those of Atlan's OpenLineage specification, its page on supported facets, and its conventions for the connector
generic-openlineage.
"""

from collections import Counter
from typing import Final, NamedTuple
from urllib.parse import quote
from uuid import UUID

import msgspec

from lineage_bridge.catalogs.events import column_fields, digest, in_form, is_streaming, with_held
from lineage_bridge.catalogs.kinds.atlan.settings import AtlanSettings
from lineage_bridge.catalogs.target import Expressed, InexpressibleError, Json, ObjectKey
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.openlineage.times import format_time, parse_time

LONGEST_NAME: Final = 1024
"""The maximum length of a job's name in Atlan, in characters."""
_HELD_OF_JOBS: Final = frozenset(("jobType", PUBLICATION))
_HELD_OF_DATASETS: Final = frozenset(("columnLineage", "symlinks"))
_NOT_HELD: Final = "facets that Atlan does not process"
_PARENTS: Final = frozenset(("APPLICATION", "DAG", "WORKFLOW"))
"""The types of jobs that stand for themselves; all others need a parent."""
_JOB_TYPE: Final = "https://openlineage.io/spec/facets/2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet"
_RELATIONAL: Final = frozenset(
    ("awsathena", "bigquery", "hive", "mssql", "mysql", "oracle", "postgres", "redshift", "snowflake", "sqlserver", "teradata", "trino")
)
"""Schemes of namespaces of datasets whose columns Atlan connects, beside those of AWS Glue."""
_GLUE: Final = "arn:aws:glue:"
_MINIMUM_US: Final = 1000
"""The length given to the run of a job that is not streaming. This one run represents all runs of the job."""


class Named(NamedTuple):
    """The name of a job in Atlan: the name of its connection, which is the namespace of its events, and the job's own name."""

    connection: str
    name: str


def named(key: ObjectKey, settings: AtlanSettings) -> Named:
    """The name of a job in Atlan. The job's namespace is put before its name, unless the namespace has a connection of its own. The
    result is unique.
    """
    if key.namespace in settings.connections:
        return Named(settings.connections[key.namespace], key.name)
    return Named(settings.connection, f"{quote(key.namespace, safe='/:@+,;=~ ')}#{key.name}")


def expressed(event: Json, settings: AtlanSettings) -> Expressed:
    """Reduce a completed run to the parts that Atlan processes. Raises InexpressibleError."""
    made, lost = in_form(event, "runs").event, Counter[str]()
    for side in ("inputs", "outputs"):
        named_datasets = [dataset for dataset in made.get(side, ()) if dataset["namespace"] and dataset["name"]]
        lost["datasets without a namespace or name"] += len(made.get(side, ())) - len(named_datasets)
        made[side] = [with_held(dataset, _HELD_OF_DATASETS, lost, _NOT_HELD) for dataset in named_datasets]
    if not made["inputs"] or not made["outputs"]:
        raise InexpressibleError("jobs without inputs or without outputs")
    job = made["job"]
    if len(named(ObjectKey("job", job["namespace"], job["name"]), settings).name) > LONGEST_NAME:
        raise InexpressibleError("jobs whose names are too long")
    made["job"] = _with_type(with_held(job, _HELD_OF_JOBS, lost, _NOT_HELD), made["producer"], lost)
    lost["columns from or to datasets that Atlan shows without columns"] += _hidden_columns(made)
    return Expressed(made, +lost)


def _with_type(job: Json, producer: str, lost: Counter[str]) -> Json:
    """A copy of the job with a jobType facet for which Atlan requires no parent run."""
    stated = job["facets"].get("jobType", {})
    lost["types of jobs"] += isinstance(stated.get("jobType"), str) and stated["jobType"].upper() not in _PARENTS
    default = {"_producer": producer, "_schemaURL": _JOB_TYPE, "processingType": "NONE", "integration": "LINEAGEBRIDGE"}
    kept = stated["jobType"].upper() if str(stated.get("jobType")).upper() in _PARENTS else "APPLICATION"
    return {**job, "facets": {**job["facets"], "jobType": {**default, **stated, "jobType": kept}}}


def _hidden_columns(event: Json) -> int:
    """The number of flows between columns at datasets whose columns Atlan does not have."""
    linked = {(dataset["namespace"], dataset["name"]) for side in ("inputs", "outputs") for dataset in event[side] if _is_table(dataset)}

    def is_shown(end: Json) -> bool:
        return (end["namespace"], end["name"]) in linked or _is_relational(end["namespace"])

    edges = [(dataset, source) for dataset in event["outputs"] for _, sources in column_fields(dataset) for source in sources]
    return sum(not is_shown(source) or not is_shown(target) for target, source in edges)


def _is_table(dataset: Json) -> bool:
    """Whether a dataset has another name that is that of a table, because Atlan has the columns of tables."""
    links = dataset["facets"].get("symlinks", {}).get("identifiers") or ()
    return any(_is_relational(str(link.get("namespace"))) for link in links if isinstance(link, dict))


def _is_relational(namespace: str) -> bool:
    return namespace.partition(":")[0] in _RELATIONAL or namespace.startswith(_GLUE)


# runs


def content_of(event: Json) -> str:
    """The digest of an event's content, in the form that its run id contains."""
    return digest(event)[:15]


def content_of_run(run: str) -> str:
    """The digest that a run id contains. Any text is accepted: the id of another producer's run gives a digest that no run of ours has."""
    digits = run.replace("-", "").lower()
    return digits[:12] + digits[13:16] if len(digits) == 32 and digits[12] == "8" else f"another run: {run}"


def run_of(event: Json) -> str:
    """The id of the run to send (a UUID of version 8, RFC 9562). It contains the digest of the content; the rest is from the event's
    run id.
    """
    content, rest = content_of(event), UUID(event["run"]["runId"]).hex[16:]
    variant = "89ab"[int(rest[0], 16) % 4]
    return str(UUID(f"{content[:12]}8{content[12:]}{variant}{rest[1:]}"))


def bodies(body: bytes, key: ObjectKey, settings: AtlanSettings) -> tuple[str, tuple[bytes, bytes]]:
    """The run id and the two events of a run: START, which has all facets, and COMPLETE."""
    event = msgspec.json.decode(body)
    run, there = run_of(event), named(key, settings)
    length_us = round(settings.window_s * 1_000_000) if is_streaming(event) else _MINIMUM_US
    ended = parse_time(event["eventTime"])
    began = format_time(ended.us - length_us) if ended else event["eventTime"]
    about = {**event, "job": {**event["job"], "namespace": there.connection, "name": there.name}, "run": {**event["run"], "runId": run}}
    start = {**about, "eventType": "START", "eventTime": began}
    end = {name: value for name, value in about.items() if name not in ("inputs", "outputs")}
    return run, (encode(start), encode(end))
