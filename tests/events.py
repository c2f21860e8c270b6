"""Events for tests: builders with defaults, and Hypothesis strategies for records of a small world in which everything meets everything."""

import json
import uuid
from typing import Any

from hypothesis import strategies as st

from lineage_bridge.graph.ids import DAY_US, event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, StoredRecord, write_note
from lineage_bridge.openlineage.times import format_time

KEY = b"a key for tests"
T0 = 1_795_000_000_000_000
"""An arbitrary day in 2026, UTC microseconds."""
PRODUCER = "https://example.org/producer/1.0.0"
META = {"_producer": PRODUCER, "_schemaURL": "https://openlineage.io/spec/facets/1-0-0/Facet.json"}
RUNS = [str(uuid.UUID(int=number + 1)) for number in range(5)]


def facet(**members: Any) -> dict[str, Any]:
    return {**META, **members}


def schema(*names: str, type_: str = "INT") -> dict[str, Any]:
    return facet(fields=[{"name": name, "type": type_} for name in names])


def columns(**fields: list[tuple[str, str, str]]) -> dict[str, Any]:
    """columnLineage: output column = [(namespace, name, field)]."""
    sources = {
        column: {
            "inputFields": [
                {"namespace": ns, "name": name, "field": field, "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}]}
                for ns, name, field in inputs
            ]
        }
        for column, inputs in fields.items()
    }
    return facet(fields=sources)


def dataset(name: str, namespace: str = "ns", access: tuple[str, dict[str, Any]] | None = None, **facets: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"namespace": namespace, "name": name}
    if facets:
        out["facets"] = facets
    if access:
        out[access[0]] = access[1]
    return out


def run_event(
    type_: str | None = "COMPLETE",
    run: str = RUNS[0],
    job: str = "job",
    time_us: int = T0,
    inputs: list[dict[str, Any]] | None = None,
    outputs: list[dict[str, Any]] | None = None,
    run_facets: dict[str, Any] | None = None,
    job_facets: dict[str, Any] | None = None,
    namespace: str = "jobs",
    **more: Any,
) -> bytes:
    event: dict[str, Any] = {
        "eventTime": format_time(time_us),
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": run, **({"facets": run_facets} if run_facets else {})},
        "job": {"namespace": namespace, "name": job, **({"facets": job_facets} if job_facets else {})},
        **more,
    }
    if type_ is not None:
        event["eventType"] = type_
    if inputs is not None:
        event["inputs"] = inputs
    if outputs is not None:
        event["outputs"] = outputs
    return json.dumps(event).encode()


def job_event(job: str = "job", time_us: int = T0, producer: str = PRODUCER, **members: Any) -> bytes:
    facets = members.pop("job_facets", None)
    event = {
        "eventTime": format_time(time_us),
        "producer": producer,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent",
        "job": {"namespace": "jobs", "name": job, **({"facets": facets} if facets else {})},
        **members,
    }
    return json.dumps(event).encode()


def dataset_event(about: dict[str, Any], time_us: int = T0, producer: str = PRODUCER) -> bytes:
    event = {
        "eventTime": format_time(time_us),
        "producer": producer,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": about,
    }
    return json.dumps(event).encode()


def erase(*runs: str) -> bytes:
    return json.dumps({"operation": "erase", "runs": list(runs)}).encode()


def stored_record(
    body: bytes,
    offset: int = 1,
    arrival: int = T0 + DAY_US,
    kind: RecordKind = RecordKind.EVENT,
    channel: str = "http",
    limits: tuple[str, ...] = (),
) -> StoredRecord:
    """A record; with `limits`, of a principal that is limited to these namespaces."""
    note, principal = write_note(RecordNote(namespaces=limits)), "limited" * bool(limits)
    return StoredRecord("log", 0, offset, LogRecord(kind, event_id(body), arrival, channel, principal, note, body))


def records_of(bodies: list[bytes], **members: Any) -> list[StoredRecord]:
    return [stored_record(body, offset=number + 1, **members) for number, body in enumerate(bodies)]


# strategies

_SECOND = 1_000_000
_names = st.sampled_from(["a", "b", "c"])
_times = st.sampled_from([T0, T0, T0 + _SECOND, T0 + 90 * _SECOND, T0 + DAY_US, T0 + 2 * DAY_US, T0 + 90 * DAY_US])
"""Few times, so that several events have the same time."""
_runs = st.sampled_from(RUNS[:3])
_jobs = st.sampled_from(["j1", "j2"])
_schemas = st.sampled_from(
    [
        schema("id"),
        schema("id", "x"),
        schema("id", type_="TEXT"),
        facet(_deleted=True),
        facet(fields=[]),
        facet(fields=None),
        facet(fields=[{"name": "id"}, {"type": "no name"}]),
    ]
)
_symlinks = st.lists(st.tuples(st.sampled_from(["ns", "file", "hive://h:1"]), _names), max_size=2).map(
    lambda links: facet(identifiers=[{"namespace": ns, "name": name, "type": "TABLE"} for ns, name in links])
)
_columns = st.one_of(
    st.dictionaries(
        st.sampled_from(["id", "x"]), st.lists(st.tuples(st.just("ns"), _names, st.sampled_from(["id", "y"])), max_size=2), max_size=2
    ).map(lambda fields: columns(**fields)),
    st.just(facet(fields={"id": {"inputFields": [{"namespace": "ns", "name": "a", "field": "id"}, {"name": "b"}]}, "x": None})),
    st.just(facet(_deleted=True)),
    st.just("no facet at all"),
)
_lifecycle = st.builds(
    lambda change, was: facet(lifecycleStateChange=change, **({"previousIdentifier": {"namespace": "ns", "name": was}} if was else {})),
    st.sampled_from(["CREATE", "DROP", "RENAME"]),
    st.none() | _names | st.just("formerly"),
)
_dependencies = st.builds(
    lambda job, run: facet(upstream=[{"job": {"namespace": "jobs", "name": job}, **({"run": {"runId": run}} if run else {})}]),
    _jobs | st.just("first"),
    st.none() | _runs,
)
_changes = st.sampled_from(
    [
        [],
        [{"type": "DIRECT", "subtype": "IDENTITY"}],
        [{"type": "INDIRECT", "description": "one"}],
        [{"type": "INDIRECT", "description": "two"}],
    ]
)
_ends = st.sampled_from(
    [
        *({"type": "DATASET", "namespace": "ns", "name": name} for name in "abc"),
        {"type": "JOB"},
        {"type": "JOB", "namespace": "jobs", "name": "other", "runId": RUNS[0]},
    ]
)
_sources = st.lists(
    st.builds(lambda end, field, changes: {**end, "field": field, "transformations": changes}, _ends, st.none() | st.just("id"), _changes),
    max_size=2,
)
_flows_in = st.fixed_dictionaries(
    {},
    optional={
        "inputs": _sources,
        "fields": st.dictionaries(st.sampled_from(["id", "x"]), _sources.map(lambda s: {"inputs": s}), max_size=1),
    },
)
_entries = st.one_of(
    st.lists(st.builds(lambda end, flows: {**end, **flows}, _ends, _flows_in), max_size=2).map(lambda entries: facet(entries=entries)),
    st.just(facet(_deleted=True)),
    st.just(facet(entries="no list")),
)
_lineage_of_datasets = st.one_of(_flows_in.map(lambda flows: facet(**flows)), st.just(facet(_deleted=True)), _entries)
_job_types = st.builds(
    lambda processing, pattern: facet(processingType=processing, integration="TEST", **({"emissionPattern": pattern} if pattern else {})),
    st.sampled_from(["BATCH", "STREAMING"]),
    st.sampled_from([None, None, {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT"}]),
)
_statistics = st.integers(0, 5).map(lambda rows: facet(rowCount=rows, size=rows * 10))
_inputs = st.builds(
    lambda name, facets, stats: dataset(name, **facets, access=("inputFacets", {"inputStatistics": stats})),
    _names,
    st.fixed_dictionaries({"schema": _schemas}, optional={"columnLineage": _columns}),
    _statistics,
)
_outputs = st.builds(
    lambda name, facets, stats: {**dataset(name, access=("outputFacets", {"outputStatistics": stats})), "facets": facets},
    _names,
    st.fixed_dictionaries(
        {},
        optional={
            "schema": _schemas,
            "columnLineage": _columns,
            "symlinks": _symlinks,
            "lifecycleStateChange": _lifecycle,
            "lineage": _entries,
        },
    ),
    _statistics,
)
_job_facets = st.fixed_dictionaries(
    {},
    optional={
        "jobType": _job_types,
        "lineage": _entries,
        "documentation": st.sampled_from(["one", "two"]).map(lambda text: facet(description=text)),
    },
)
_run_facets = st.fixed_dictionaries(
    {},
    optional={
        "parent": st.builds(
            lambda run, job: facet(run={"runId": run}, job={"namespace": "jobs", "name": job}),
            _runs,
            _jobs | st.sampled_from(["above", "far above"]),
        ),
        "jobDependencies": _dependencies,
        "nominalTime": st.just(facet(nominalStartTime="2026-11-20T00:00:00Z")),
        "errorMessage": st.sampled_from(["first", "second"]).map(lambda text: facet(message=text, programmingLanguage="JAVA"))
        | st.just(facet(_deleted=True)),
    },
)
_types = st.sampled_from(["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER", None])
run_events = st.builds(
    run_event,
    type_=_types,
    run=_runs | st.just("no uuid"),
    job=_jobs,
    time_us=_times,
    inputs=st.none() | st.lists(_inputs, max_size=3),
    outputs=st.none() | st.lists(_outputs, max_size=3),
    run_facets=_run_facets,
    job_facets=_job_facets,
)
design_events = st.one_of(
    st.builds(
        job_event,
        job=_jobs,
        time_us=_times,
        producer=st.sampled_from([PRODUCER, "https://example.org/producer/2.0.0", "https://example.org/other"]),
        inputs=st.lists(_inputs, max_size=2),
        outputs=st.lists(_outputs, max_size=2),
        job_facets=_job_facets,
    ),
    st.builds(
        lambda name, facets, time_us: dataset_event({**dataset(name), "facets": facets}, time_us),
        _names,
        st.fixed_dictionaries({}, optional={"schema": _schemas, "lineage": _lineage_of_datasets, "columnLineage": _columns}),
        _times,
    ),
)
_limits = st.sampled_from([(), (), ("jobs",), ("jobs", "ns"), ("other",)])
damaged = st.builds(lambda body, cut: body[: len(body) * cut // 10], run_events, st.integers(1, 9))
bodies = st.one_of(run_events, run_events, run_events, design_events, damaged)


@st.composite
def record_lists(draw: st.DrawFn, min_size: int = 1, max_size: int = 16, erasing: bool = True) -> list[StoredRecord]:
    """Records of one small world: some are repeated at another offset and on another channel, and sometimes a run is erased.

    Some are of a principal that is limited to namespaces, though others may have sent the same bytes.
    """
    records: list[StoredRecord] = []
    for offset, body in enumerate(draw(st.lists(bodies, min_size=min_size, max_size=max_size))):
        arrival = T0 + draw(st.integers(0, 3)) * DAY_US
        records.append(stored_record(body, offset=2 * offset + 1, arrival=arrival, limits=draw(_limits)))
        if draw(st.integers(0, 4)) == 0:
            records.append(
                stored_record(body, offset=2 * offset + 2, arrival=arrival + draw(st.sampled_from([0, DAY_US * 100])), channel="kafka")
            )
    if erasing and draw(st.integers(0, 3)) == 0:
        records.append(stored_record(erase(draw(_runs)), offset=10_000, kind=RecordKind.OPERATOR))
    return records
