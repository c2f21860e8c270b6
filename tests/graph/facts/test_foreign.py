"""What a principal that is limited to namespaces says of what lies outside: kept, without effect, in any order and beside any copy."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import KEY, RUNS, T0, columns, dataset, dataset_event, facet, job_event, run_event, schema, stored_record

from lineage_bridge.graph.facts.fold import Tables, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import Derived, derive
from lineage_bridge.graph.log_record import StoredRecord

NAMES = Names(KEY)
LIMITS = ("etl-*", "s3://etl", "kafka://etl*", "postgres://etl*")
DB, LAKE, TOPICS, MINE, OWN_TOPICS = "postgres://db:5432", "s3://lake", "kafka://broker.x.org:9092", "s3://etl", "kafka://etl.x.org:9092"
LATER = T0 + 5_000_000
UUID = "0198c0de-0000-7000-8000-00000000000{}".format


def links(*names: tuple[str, str]) -> dict[str, Any]:
    return facet(identifiers=[{"namespace": namespace, "name": name, "type": "TABLE"} for namespace, name in names])


def change(kind: str, was: tuple[str, str] | None = None) -> dict[str, Any]:
    before = {"previousIdentifier": {"namespace": was[0], "name": was[1]}} if was else {}
    return facet(lifecycleStateChange=kind, **before)


def parent(run: str, namespace: str, job: str) -> dict[str, Any]:
    return facet(run={"runId": run}, job={"namespace": namespace, "name": job})


CLUSTER = facet(cluster_id="lkc-abc12", bootstrap_servers="broker.x.org:9092")
STREAMING = {"jobType": facet(processingType="STREAMING", integration="TEST")}


def of_owner(**members: Any) -> bytes:
    return run_event(namespace="shop", **members)


OWNER = [
    of_owner(run=RUNS[0], type_="START", job="load", run_facets={"parent": parent(RUNS[4], "shop", "nightly")}),
    of_owner(
        run=RUNS[0],
        job="load",
        inputs=[dataset("orders", DB, schema=schema("id", "amount"), symlinks=links((LAKE, "warehouse/orders")))],
        outputs=[
            dataset(
                "warehouse/facts",
                LAKE,
                schema=schema("id"),
                documentation=facet(description="facts"),
                columnLineage=columns(id=[(DB, "orders", "id")]),
                lifecycleStateChange=change("CREATE"),
            )
        ],
        time_us=T0 + 1_000_000,
    ),
    dataset_event(dataset("orders", TOPICS, confluent_kafka=facet(cluster_id="lkc-owner"), schema=schema("id")), T0),
    of_owner(run=RUNS[1], type_="RUNNING", job="stream", inputs=[dataset("events", TOPICS)], job_facets=STREAMING, time_us=T0),
    of_owner(run=RUNS[1], type_="RUNNING", job="stream", inputs=[dataset("events", TOPICS)], time_us=T0 + 60_000_000),
    of_owner(run=RUNS[2], job="old", outputs=[dataset("gone", DB, lifecycleStateChange=change("DROP"))]),
]


def of_attacker(
    inputs: list[dict[str, Any]] | None = None, outputs: list[dict[str, Any]] | None = None, run: str = UUID(1), **members: Any
) -> bytes:
    return run_event(namespace="etl-a", job="evil", run=run, time_us=LATER, inputs=inputs, outputs=outputs, **members)


def own_dataset(**facets: Any) -> bytes:
    return dataset_event(dataset("t", MINE, **facets), LATER)


ATTACKS: dict[str, bytes] = {
    "drop": of_attacker(outputs=[dataset("orders", DB, lifecycleStateChange=change("DROP"))]),
    "truncate": of_attacker(outputs=[dataset("warehouse/facts", LAKE, lifecycleStateChange=change("TRUNCATE"))]),
    "overwrite": of_attacker(outputs=[dataset("warehouse/facts", LAKE, lifecycleStateChange=change("OVERWRITE"))]),
    "create what was dropped": of_attacker(inputs=[dataset("gone", DB, lifecycleStateChange=change("CREATE"))]),
    "rename from a foreign name": own_dataset(lifecycleStateChange=change("RENAME", (DB, "orders"))),
    "rename to a foreign name": of_attacker(outputs=[dataset("orders", DB, lifecycleStateChange=change("RENAME", (MINE, "t")))]),
    "symlink of a foreign name": of_attacker(inputs=[dataset("orders", DB, symlinks=links((MINE, "t")))]),
    "symlink to a foreign name": own_dataset(symlinks=links((DB, "orders"))),
    "symlink by another spelling": own_dataset(symlinks=links(("postgresql://db", "orders"))),
    "schema": of_attacker(inputs=[dataset("orders", DB, schema=schema("evil"))]),
    "schema by another spelling": of_attacker(outputs=[dataset("warehouse/facts", "s3a://lake", schema=schema("evil"))]),
    "schema withdrawn": of_attacker(outputs=[dataset("warehouse/facts", LAKE, schema=facet(_deleted=True))]),
    "description": of_attacker(outputs=[dataset("warehouse/facts", LAKE, documentation=facet(description="evil"))]),
    "owner and tags": of_attacker(
        outputs=[
            dataset("warehouse/facts", LAKE, ownership=facet(owners=[{"name": "evil"}]), tags=facet(tags=[{"key": "a", "value": "evil"}]))
        ]
    ),
    "custom facet": of_attacker(outputs=[dataset("orders", DB, acme_quality=facet(evil=1))]),
    "claim of a foreign cluster": of_attacker(inputs=[dataset("orders", TOPICS, confluent_kafka=CLUSTER)]),
    "claim for a foreign cluster": dataset_event(dataset("orders", OWN_TOPICS, confluent_kafka=facet(cluster_id="lkc-owner")), LATER),
    "source of a foreign dataset": of_attacker(
        inputs=[dataset("orders", TOPICS, dataSource=facet(name="x", uri=f"{TOPICS},etl.x.org:9092"))]
    ),
    "source with a foreign address": dataset_event(
        dataset("orders", OWN_TOPICS, dataSource=facet(name="x", uri=f"{OWN_TOPICS},broker.x.org:9092")), LATER
    ),
    "columns that an input states of itself": of_attacker(
        inputs=[dataset("warehouse/facts", LAKE, columnLineage=columns(id=[(MINE, "t", "evil")]))]
    ),
    "a list of servers": of_attacker(inputs=[dataset("events", "kafka://broker.x.org:9092,etl.x.org:9092")]),
    "a list of servers in columns": of_attacker(
        outputs=[dataset("t", MINE, columnLineage=columns(id=[("kafka://broker.x.org:9092,etl.x.org:9092", "events", "id")]))]
    ),
    "lineage of a foreign job": of_attacker(
        job_facets={
            "lineage": facet(
                entries=[
                    {
                        "type": "JOB",
                        "namespace": "shop",
                        "name": "load",
                        "inputs": [{"type": "DATASET", "namespace": MINE, "name": "t"}],
                    }
                ]
            )
        }
    ),
    "lineage of a dataset from a foreign job": own_dataset(lineage=facet(inputs=[{"type": "JOB", "namespace": "shop", "name": "load"}])),
    "a foreign run's id": of_attacker(run=RUNS[0], type_="FAIL", inputs=[dataset("orders", DB, schema=schema("evil"))]),
    "a foreign parent": of_attacker(
        run=RUNS[0], type_="FAIL", run_facets={"parent": parent(RUNS[1], "shop", "load")}, outputs=[dataset("t", MINE)]
    ),
    "a sibling of a foreign stream": of_attacker(outputs=[dataset("t", MINE)], run_facets={"parent": parent(RUNS[4], "shop", "nightly")}),
    "a foreign job waits": of_attacker(
        run_facets={"jobDependencies": facet(downstream=[{"job": {"namespace": "shop", "name": "load"}, "run": {"runId": RUNS[0]}}])}
    ),
    "declared": job_event(
        job="evil",
        time_us=LATER,
        inputs=[dataset("orders", DB, schema=schema("evil"), symlinks=links((MINE, "t")))],
        outputs=[dataset("warehouse/facts", LAKE, documentation=facet(_deleted=True), lifecycleStateChange=change("DROP"))],
    ).replace(b'"namespace": "jobs"', b'"namespace": "etl-a"'),
}
"""Events that a key for LIMITS may send, each of which says something that its sender may not say."""
STATED = {
    "a list of servers": set(),
    "a foreign parent": set(),
    "a sibling of a foreign stream": set(),
    "a foreign job waits": set(),
    "symlink to a foreign name": {("symlinks", "foreign_name")},
    "symlink by another spelling": {("symlinks", "foreign_name")},
    "rename from a foreign name": {("lifecycleStateChange", "foreign_name")},
    "claim for a foreign cluster": {("confluent_kafka", "foreign_name")},
    "source with a foreign address": {("dataSource", "foreign_name")},
    "a list of servers in columns": {("columnLineage", "foreign_name")},
    "lineage of a foreign job": {("lineage", "foreign_job")},
    "lineage of a dataset from a foreign job": {("lineage", "foreign_job")},
    "schema": {("schema", "foreign_dataset")},
}
"""What is listed as without effect, where it is not just any facet of a foreign dataset."""
EDGES = {"a foreign parent", "a foreign job waits"}
"""Edges to the attacker's own job, whoever states them."""
COMPARED = [
    "lifecycle",
    *("run_shape", "run_shape_day", "run_lineage_set", "job_shape", "job_io", "flow", "hub", "job_lineage_set", "stitch", "sibling"),
    *("current_facet", "search_text", "job_symlinks", "symlink", "symlink_evidence"),
    *("namespace_claim", "namespace_claim_evidence", "name_alias", "namespace_alias", "identity"),
]
GROWING = set(COMPARED) - {"run_shape", "run_shape_day", "job_shape", "identity"}
"""Tables to which the limited copy of an event, where it has other names than the whole one, can only add."""
SPELLING = {NAMES.dataset("s3a://lake", "warehouse/facts"), "s3a://lake"}
"""A spelling that only the attacker uses: that it is the same as the owner's is no secret of his."""
OWN_DATASETS = [(MINE, "t"), (OWN_TOPICS, "orders")]
ATTACKERS = {NAMES.job("etl-a", "evil")} | {NAMES.dataset(*name) for name in OWN_DATASETS}
OWNED_DATASETS = [(DB, "orders"), (LAKE, "warehouse/facts"), (TOPICS, "orders"), (TOPICS, "events"), (DB, "gone")]
OWNED_JOBS = {NAMES.job("shop", name) for name in ("load", "nightly", "stream", "old")}
OWNED = OWNED_JOBS | {NAMES.dataset(*name) for name in OWNED_DATASETS}
JOINING = {"symlink", "identity", "stitch", "sibling", "lifecycle"}
"""Tables in which nothing of the attacker's may stand beside something of the owner's; in the others, no job of his."""


def records(bodies: list[bytes], limits: tuple[str, ...] = ()) -> list[StoredRecord]:
    return [stored_record(body, offset=number, limits=limits) for number, body in enumerate(bodies, start=1000 * len(limits))]


def concerns_owner(table: str, row: tuple[object, ...]) -> bool:
    """Whether a row of a table is about what the owner has; edges to the attacker's job, and what is the attacker's alone, are not."""
    if ATTACKERS.isdisjoint(row):
        return not (table in ("name_alias", "namespace_alias", "identity") and SPELLING & set(row))
    return not (OWNED if table in JOINING else OWNED_JOBS).isdisjoint(row)


def folded(some: list[StoredRecord]) -> tuple[Tables, Derived]:
    tables = fold_records(some, NAMES)
    return tables, {**derive(tables, NAMES, stitch=True), "lifecycle": set(tables["lifecycle"])}


def owners_view(some: list[StoredRecord]) -> Derived:
    """All that is derived about what the owner has; of the names of datasets, those that differ from the one that it is known by."""
    _, derived = folded(some)
    rows = {name: {row for row in derived.get(name, ()) if concerns_owner(name, row)} for name in COMPARED}
    return {**rows, "identity": {row for row in rows["identity"] if row[0] != row[1]}}


UNTOUCHED = owners_view(records(OWNER))


def listed(tables: Tables) -> set[tuple[str, str]]:
    sets = {facet_set: why for (*_, why, _, _, facet_set, _) in tables["foreign_assertion"]}
    return {(key, sets[facet_set]) for facet_set, key in tables["facet_set"] if facet_set in sets}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_changes_nothing_for_the_owner_and_is_listed(attack: str) -> None:
    some = [*records(OWNER), *records([ATTACKS[attack]], LIMITS)]
    assert owners_view(some) == UNTOUCHED
    tables = fold_records(some, NAMES)
    assert not tables["quarantine"]
    if attack in STATED:
        assert listed(tables) == STATED[attack]
    else:
        assert {why for _, why in listed(tables)} == {"foreign_dataset"}


@pytest.mark.parametrize("attack", sorted(ATTACKS.keys() - EDGES))
def test_the_same_words_of_an_unlimited_principal_have_an_effect(attack: str) -> None:
    """Otherwise the attack would prove nothing."""
    assert owners_view([*records(OWNER), *records([ATTACKS[attack]])]) != UNTOUCHED


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(list(ATTACKS.values())), max_size=8), st.randoms(use_true_random=False))
def test_attacks_in_any_order_change_nothing_for_the_owner(attacks: list[bytes], random: Random) -> None:
    some = [*records(OWNER), *records(attacks, LIMITS)]
    random.shuffle(some)
    assert owners_view(some) == UNTOUCHED


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(list(ATTACKS.values())), max_size=5), st.randoms(use_true_random=False))
def test_copies_of_unlimited_principals_count_whole_in_any_order(attacks: list[bytes], random: Random) -> None:
    limited, whole = records([*OWNER, *attacks], LIMITS), records([*OWNER, *attacks])
    both = limited + whole + random.choices(limited + whole, k=3)
    random.shuffle(both)
    tables, derived = folded(both)
    _, expected = folded(whole)
    assert [name for name in GROWING if not derived.get(name, set()) >= expected.get(name, set())] == []
    assert tables == fold_records(limited + whole, NAMES)


@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e"])
def test_a_declaration_that_is_cut_replaces_none_that_counts_whole(name: str) -> None:
    """Both have the same time and event: which facet set is the newest would be left to chance."""
    servers = "kafka://broker.x.org:9092,etl.x.org:9092"
    body = job_event(job="evil", inputs=[dataset(name, servers)], outputs=[dataset("t", MINE)])
    _, whole = folded(records([body]))
    _, both = folded([*records([body]), *records([body], LIMITS)])
    assert whole["flow"]
    assert both["flow"] > whole["flow"]


def test_what_the_job_does_is_its_own_word() -> None:
    work = of_attacker(
        inputs=[
            dataset("orders", DB, access=("inputFacets", {"dataQualityMetrics": facet(rowCount=3), "inputStatistics": facet(rowCount=3)}))
        ],
        outputs=[dataset("warehouse/facts", LAKE, columnLineage=columns(id=[(DB, "orders", "id")]))],
        job_facets={"documentation": facet(description="mine"), "sql": facet(query="select 1")},
    )
    limited, whole = fold_records(records([work], LIMITS), NAMES), fold_records(records([work]), NAMES)
    assert not limited["foreign_assertion"]
    assert derive(limited, NAMES) == derive(whole, NAMES)
    assert limited["io_sample"] == whole["io_sample"] != {}


def test_what_is_said_of_own_datasets_counts() -> None:
    own = [
        own_dataset(schema=schema("id"), symlinks=links((MINE, "other")), lifecycleStateChange=change("RENAME", (MINE, "was"))),
        of_attacker(
            outputs=[dataset("orders", "postgres://etl:5432", schema=schema("id"), dataSource=facet(name="x", uri="postgres://etl"))]
        ),
    ]
    limited, whole = fold_records(records(own, LIMITS), NAMES), fold_records(records(own), NAMES)
    assert not limited["foreign_assertion"]
    assert derive(limited, NAMES) == derive(whole, NAMES)


@pytest.mark.parametrize(
    ("namespace", "limits", "within"),
    [
        ("s3://lake", ("s3://lake",), True),
        ("s3a://lake", ("s3a://lake",), False),
        ("s3a://lake", ("s3*://lake",), True),
        ("kafka://b1:9092,b2:9092", ("kafka://b2*",), False),
        ("kafka://b1:9092,b2:9092", ("kafka://b1*", "kafka://b2:9092"), True),
        ("postgres://db", ("postgres://db",), False),
        ("postgres://db", ("postgres://db*",), True),
    ],
)
def test_a_dataset_is_its_speakers_under_all_its_spellings_or_not_at_all(namespace: str, limits: tuple[str, ...], within: bool) -> None:
    body = of_attacker(inputs=[dataset("warehouse/facts", namespace, schema=schema("id"))])
    assert bool(fold_records(records([body], limits), NAMES)["foreign_assertion"]) is not within


def test_a_list_of_servers_is_read_as_its_least_one() -> None:
    bodies = [of_attacker(inputs=[dataset("events", f"kafka://{servers}")]) for servers in ("b2:9092,b1:9092", "b1:9092,b2:9092,b3:9092")]
    tables = fold_records(records(bodies, LIMITS), NAMES)
    assert {node[2:] for node in tables["node"] if node[1] == 1} == {("kafka://b1:9092", "events")}


def test_who_said_it_and_under_which_limits() -> None:
    (row,) = fold_records(records([ATTACKS["schema"]], LIMITS), NAMES)["foreign_assertion"]
    assert (row[5], json.loads(row[6])) == ("limited", list(LIMITS))


@pytest.mark.parametrize("waived", [False, True])
def test_a_dataset_that_an_operator_let_through_is_its_events_own(waived: bool) -> None:
    record = stored_record(dataset_event(dataset("orders", DB, schema=schema("id"), symlinks=links((LAKE, "x")))), limits=LIMITS)
    note = msgspec.json.encode({"namespaces": LIMITS, "waived": waived, "sender": "etl"})
    released = record._replace(record=msgspec.structs.replace(record.record, note=note, principal="ada", channel="retry"))
    tables = fold_records([released], NAMES)
    assert listed(tables) == {
        ("symlinks", "foreign_name" if waived else "foreign_dataset"),
        *(() if waived else [("schema", "foreign_dataset")]),
    }
    assert {row[5] for row in tables["foreign_assertion"]} == {"etl"}


Order = Callable[[list[StoredRecord]], list[StoredRecord]]


def test_records_of_before_mean_what_they_meant() -> None:
    """A record without a note counts whole, whoever sent it."""
    record = stored_record(ATTACKS["schema"])
    old = record._replace(record=msgspec.structs.replace(record.record, principal="limited"))
    assert not fold_records([old], NAMES)["foreign_assertion"]
