"""Names among which every rule, symlink and operator's statement meets every other: builders and Hypothesis strategies."""

import json
from typing import Any

from hypothesis import strategies as st
from tests.events import PRODUCER, RUNS, T0, dataset, dataset_event, erase, facet, job_event, run_event, stored_record

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import RecordKind, StoredRecord

NAMES = [
    ("s3a://b", "x/dt=1"),
    ("s3://b", "/x/dt=2"),
    ("s3://b", "x"),
    ("kafka://a:1,b:1", "t"),
    ("kafka://a:1", "t"),
    ("kafka://b:1", "t"),
    ("google://p/d", "t"),
    ("bigquery", "p.d.t"),
    ("aws://eu-west-1/d", "t"),
    ("arn:aws:glue:eu-west-1:1", "table/d/t"),
    ("ns", "t"),
    ("ns", "a"),
    ("kafka://b1.example.com:1", "t"),
    ("kafka://b2.example.com:1", "t"),
    ("kafka://pkc-1.x.confluent.cloud:1", "t"),
    ("confluent://env-1/lkc-1", "t"),
    ("jdbc://db:1", "s.t"),
    ("postgres://db:1", "shop.s.t"),
]
UNSEEN = [
    ("kafka://lkc-1", "t"),
    ("kafka://lkc-2", "t"),
    ("s3://b", "x/dt=1"),
    ("kafka://b:1,c:1", "t"),
    ("aws://eu-west-1", "table/d/t"),
    ("nowhere", "t"),
]
RULES = ["scheme-s3a", "path-key-value", "path-slashes", "kafka-servers", "bigquery-dataset", "glue-database"]


def end(namespace: str, name: str | None = None) -> dict[str, str]:
    return {"namespace": namespace, **({"name": name} if name is not None else {})}


def alias_operation(operation: str, *statements: dict[str, Any]) -> bytes:
    return json.dumps({"operation": operation, "aliases": list(statements)}).encode()


def operator(body: bytes, offset: int = 5_000, arrival: int = T0 + DAY_US) -> StoredRecord:
    return stored_record(body, offset=offset, arrival=arrival, kind=RecordKind.OPERATOR)


def between_names(a: tuple[str, str], b: tuple[str, str], **members: str) -> dict[str, Any]:
    return {"a": end(*a), "b": end(*b), **members}


def between_namespaces(a: str, b: str, **members: str) -> dict[str, Any]:
    return {"a": end(a), "b": end(b), **members}


def links_to(names: list[tuple[str, str]], type_: str = "LOCATION") -> dict[str, Any]:
    """A symlinks facet."""
    return facet(identifiers=[{"namespace": namespace, "name": name, "type": type_} for namespace, name in names])


_name = st.sampled_from([*NAMES, *UNSEEN])
_space = _name.map(lambda name: name[0])
_why = st.sampled_from(["", "the cluster's own page"])
_entities = st.sampled_from(["dataset", "dataset", "dataset", "job"])
aliases = st.one_of(
    st.builds(
        lambda a, b, why, entity: between_names(a, b, evidence=why, entity=entity), _name | st.just(("jobs", "j1")), _name, _why, _entities
    ),
    st.builds(
        lambda a, b, why, prefix: between_namespaces(a, b, evidence=why, prefix=prefix),
        _space,
        _space,
        _why,
        st.sampled_from(["", "", "table/"]),
    ),
)
_linked = st.sampled_from(NAMES).flatmap(
    lambda name: st.one_of(st.just(facet(_deleted=True)), st.lists(_name, max_size=2).map(links_to)).map(
        lambda symlinks: dataset(name[1], name[0], symlinks=symlinks)
    )
)
_claims = st.one_of(
    st.builds(
        lambda id_, servers: {"confluent_kafka": facet(cluster_id=id_, bootstrap_servers=servers)},
        st.sampled_from(["lkc-1", "lkc-1", "lkc-2", "no id"]),
        st.sampled_from(["", "b1.example.com:1", "b2.example.com:1,localhost:1", "SASL_SSL://b2.example.com:1"]),
    ),
    st.sampled_from(
        [
            "kafka://b1.example.com:1,b2.example.com:1",
            "kafka://lkc-1",
            "jdbc:postgresql://db:1/shop",
            "jdbc:postgresql://db:1/other",
            "kafka",
        ]
    ).map(lambda uri: {"dataSource": facet(name="source", uri=uri)}),
    st.just({"confluent_kafka": facet(_deleted=True)}),
)
_claiming = st.builds(lambda name, facets: dataset(name[1], name[0], **facets), st.sampled_from(NAMES[-6:]), _claims)
_plain = st.sampled_from(NAMES).map(lambda name: dataset(name[1], name[0]))
_jobs = st.sampled_from(["j1", "j2"])
_times = st.sampled_from([T0, T0 + 1, T0 + DAY_US])
_producers = st.sampled_from([PRODUCER, "https://example.org/p/1.0", "https://example.org/p/1.1"])
_run_events = st.builds(
    run_event,
    run=st.sampled_from(RUNS[:3]),
    job=_jobs,
    time_us=_times,
    inputs=st.lists(_linked | _plain | _claiming, max_size=2),
    outputs=st.lists(_linked | _plain | _claiming, max_size=2),
)
_declarations = st.one_of(
    st.builds(dataset_event, _linked, _times, _producers),
    st.builds(
        lambda job, time_us, producer, output: job_event(job, time_us, producer, outputs=[output]), _jobs, _times, _producers, _linked
    ),
)
events = st.one_of(_run_events, _run_events, _declarations)
_vetoes = st.one_of(
    st.builds(
        lambda alias_operation, kind: {**alias_operation, "kind": kind},
        aliases,
        st.sampled_from(["", "operator", "symlink", "facet", "rule"]),
    ),
    st.builds(lambda rule: {"kind": "rule", "evidence": rule}, st.sampled_from(RULES)),
    st.builds(lambda key: {"kind": "facet", "evidence": key}, st.sampled_from(["confluent_kafka", "dataSource"])),
    st.builds(
        lambda space, id_: between_namespaces(space, f"kafka://{id_}", kind="facet"),
        st.sampled_from(["kafka://b1.example.com:1", "kafka://b2.example.com:1"]),
        st.sampled_from(["lkc-1", "lkc-2"]),
    ),
    st.builds(lambda space, rule: between_namespaces(space, space, kind="rule", evidence=rule), _space, st.sampled_from(RULES)),
)


@st.composite
def alias_histories(draw: st.DrawFn) -> list[StoredRecord]:
    """Records with events in many spellings, operators' aliases and vetoes, and sometimes an erased run."""
    records = [stored_record(body, offset=offset + 1) for offset, body in enumerate(draw(st.lists(events, min_size=2, max_size=8)))]
    stated = draw(st.lists(aliases, max_size=4))
    for statement in stated:
        records.append(operator(alias_operation("alias", statement), len(records) + 1, T0 + draw(st.integers(0, 3))))
    for statement in draw(st.lists(st.sampled_from(stated) | _vetoes if stated else _vetoes, max_size=3)):
        kind = draw(st.sampled_from(["veto", "veto", "lift"]))
        records.append(operator(alias_operation(kind, statement), len(records) + 1, T0 + draw(st.integers(0, 3))))
    for name, entity in draw(st.lists(st.tuples(_name | st.just(("jobs", "j1")), _entities), max_size=3)):
        kind = draw(st.sampled_from(["prefer", "prefer", "withdraw"]))
        choice = {"a": end(*name), "entity": entity}
        records.append(operator(alias_operation(kind, choice), len(records) + 1, T0 + draw(st.integers(0, 3))))
    if draw(st.integers(0, 3)) == 0:
        records.append(operator(erase(draw(st.sampled_from(RUNS[:3]))), len(records) + 1))
    return records
