"""The store's groups equal the plain ones; what is taken back leaves nothing; nothing is written for what is joined."""

import json
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.corpora.aliases import NAMES as SPELLINGS
from tests.corpora.aliases import UNSEEN, alias_histories, alias_operation, aliases, between_names, between_namespaces, operator
from tests.events import KEY, RUNS, T0, dataset, erase, facet, records_of, run_event
from tests.store.reading import exported, read_as_of, reader_of
from tests.store.tables import contents, execute, rows_written
from tests.store.writing import apply, opened, settle

from lineage_bridge.graph.facts.fold import fold_records, without_erased
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.identity.steps import Spelling
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import LogRecord, RecordKind, StoredRecord
from lineage_bridge.model.graph import Node

NAMES = Names(KEY)

STORED = (
    "alias",
    "job_symlinks",
    "symlink",
    "symlink_evidence",
    "namespace_claim",
    "namespace_claim_evidence",
    "name_alias",
    "namespace_alias",
)


def arriving(stored: StoredRecord, arrival_us: int) -> StoredRecord:
    """The same record, received at another time."""
    return stored._replace(record=structs.replace(stored.record, arrival_us=arrival_us))


def is_event_of(record: LogRecord, day: bytes) -> bool:
    return record.kind == RecordKind.EVENT and day in record.body[:40]


@settings(max_examples=60, deadline=None)
@given(alias_histories(), st.data())
def test_the_store_equals_the_plain_fold(records: list[StoredRecord], data: st.DataObject) -> None:
    tables = without_erased(fold_records(records, NAMES))
    derived = derive(tables, NAMES)
    with opened() as writer:
        left = data.draw(st.permutations(records))
        while left:
            size = data.draw(st.integers(1, 6))
            apply(writer, left[:size])
            left = left[size:]
        settle(writer)
        assert contents(writer, "alias") == {key + values for key, values in tables["alias"].items()}
        for name in STORED[1:]:
            assert contents(writer, name) == derived.get(name, set()), name
        assert {identity[:4] for identity in reader_of(writer).nodes.identities.all()} == derived.get("identity", set())
        assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []


@settings(max_examples=40, deadline=None)
@given(alias_histories())
def test_a_group_is_the_same_from_each_of_its_names(records: list[StoredRecord]) -> None:
    with opened() as writer:
        apply(writer, records)
        every = reader_of(writer).nodes.identities
        ids = [row[0] for row in execute(writer, "SELECT id FROM node").fetchall()]
        together = every.groups_of(ids)
        for id_ in ids:
            alone = reader_of(writer).nodes.identities
            group = alone.groups_of([id_])[id_]
            assert group == together[id_]
            nodes = reader_of(writer).nodes
            for spelling in group.spellings:
                found = nodes.by_spelling(NodeKind(spelling.kind), spelling.namespace, spelling.name)
                assert found is not None
                assert found.id in alone.members(group)


def test_a_spelling_of_a_group_finds_that_group_though_no_node_has_it_and_a_rule_is_vetoed_elsewhere() -> None:
    here = [dataset("/x/dt=2", "s3://b"), dataset("x", "s3://b"), dataset("x/dt=1", "s3a://b")]
    vetoed = alias_operation("veto", {**between_namespaces("s3://b", "s3://b"), "kind": "rule", "evidence": "path-key-value"})
    with opened() as writer:
        apply(writer, [*records_of([run_event(inputs=here)]), operator(vetoed)])
        nodes = reader_of(writer).nodes
        table, partition = (nodes.find(NodeKind.DATASET, "s3://b", name) for name in ("x", "/x/dt=2"))
        assert nodes.by_spelling(NodeKind.DATASET, "s3a://b", "x/dt=2") == partition
        assert nodes.by_spelling(NodeKind.DATASET, "s3a://b", "x") == table


@settings(max_examples=40, deadline=None)
@given(alias_histories(), st.lists(aliases, min_size=1, max_size=3))
def test_a_vetoed_alias_equals_never_having_had_it(records: list[StoredRecord], statements: list[dict[str, object]]) -> None:
    late = T0 + 10
    with opened() as writer, opened() as never:
        fresh = [{**statement, "evidence": f"never said before {n}"} for n, statement in enumerate(statements)]
        apply(writer, [*records, operator(alias_operation("alias", *fresh), 900, late)])
        apply(never, records)
        apply(writer, [operator(alias_operation("veto", *fresh), 901, late + 1)])
        assert exported(writer) == exported(never)
        for table in STORED[1:]:
            assert contents(writer, table) == contents(never, table), table
        assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []


def test_the_node_is_found_by_every_spelling_seen_or_not() -> None:
    with opened() as writer:
        apply(writer, records_of([run_event(inputs=[dataset("x", "s3://b"), dataset("t", "kafka://a:1"), dataset("p.d.t", "bigquery")])]))
        nodes = reader_of(writer).nodes
        for spelling, name in {
            ("s3a://b", "/x/dt=2026-01-01/part-00000-a.parquet"): "x",
            ("kafka://c:1,a:1", "t"): "t",
            ("google://p/d", "t"): "p.d.t",
        }.items():
            node = nodes.by_spelling(NodeKind.DATASET, *spelling)
            assert node is not None, spelling
            assert node.name == name
        assert nodes.by_spelling(NodeKind.DATASET, "nowhere", "t") is None
        assert nodes.by_spelling(NodeKind.JOB, "s3a://b", "x") is None


def test_names_may_be_spelt_as_lineage_bridge_does() -> None:
    with opened() as writer:
        apply(writer, records_of([run_event(inputs=[dataset("t", "kafka://a:1")], outputs=[dataset("p.d.t", "bigquery")])]))
        apply(writer, [operator(alias_operation("alias", between_namespaces("confluent://env-1/lkc-1", "kafka://a:1")))])
        apply(writer, [operator(alias_operation("alias", between_namespaces("google://p/d", "bigquery", prefix="p.d.")))])
        nodes = reader_of(writer).nodes
        topic = nodes.find(NodeKind.DATASET, "kafka://a:1", "t")
        assert topic is not None
        assert nodes.spelt([topic])[topic.id] == topic
        assert nodes.spelt([topic], "lineagebridge")[topic.id].namespace == "confluent://env-1/lkc-1"
        table = nodes.find(NodeKind.DATASET, "bigquery", "p.d.t")
        assert table is not None
        assert nodes.spelt([table], "lineagebridge")[table.id] == Node(table.id, NodeKind.DATASET, "google://p/d", "t")


def test_joining_and_parting_two_namespaces_writes_no_row_for_their_names() -> None:
    with opened() as writer:
        names = [dataset(f"t{n}", namespace) for n in range(50) for namespace in ("one", "two")]
        apply(writer, records_of([run_event(inputs=names)]))
        # The next batch clears what the first one was staged in.
        apply(writer, [operator(alias_operation("veto", between_namespaces("three", "four")))])
        for kind in ("alias", "veto"):
            record = operator(alias_operation(kind, between_namespaces("one", "two")), arrival=T0 + len(kind))
            assert rows_written(writer, partial(apply, writer, [record])) < 20
            assert len(list(reader_of(writer).nodes.identities.all())) == (100 if kind == "alias" else 0)


def test_jobs_are_joined_by_operators_alone() -> None:
    with opened() as writer:
        apply(writer, records_of([run_event(job="inventory.0", outputs=[dataset("t")]), run_event(job="connector", inputs=[dataset("s")])]))
        apply(
            writer,
            [
                operator(
                    alias_operation(
                        "alias", between_names(("jobs", "inventory.0"), ("jobs", "connector"), entity="job", evidence="one connector")
                    )
                )
            ],
        )
        lines = [json.loads(line) for line in exported(writer)]
        assert [line["name"] for line in lines if line["type"] == "job"] == ["connector"]
        (alias,) = (line for line in lines if line["type"] == "alias")
        assert (alias["entity"], alias["node"]["name"], alias["kind"]) == ("job", "inventory.0", "operator one connector")


def test_a_job_goes_by_the_name_that_its_own_system_gives_it() -> None:
    with opened() as writer:
        connector = ("kafka-connect://worker:8083", "inventory")
        apply(writer, records_of([run_event(job="inventory.0", outputs=[dataset("t")])]))
        apply(writer, records_of([run_event(job=connector[1], namespace=connector[0], inputs=[dataset("s")])]))
        apply(writer, [operator(alias_operation("alias", between_names(("jobs", "inventory.0"), connector, entity="job")))])
        lines = [json.loads(line) for line in exported(writer)]
        assert [(line["namespace"], line["name"]) for line in lines if line["type"] == "job"] == [connector]


@settings(max_examples=40, deadline=None)
@given(alias_histories(), st.sampled_from([T0, T0 + 1, T0 + DAY_US, T0 + 2 * DAY_US]))
def test_groups_as_of_a_time_are_those_of_the_events_by_then(records: list[StoredRecord], at_us: int) -> None:
    with opened() as writer:
        apply(writer, records)
        then = reader_of(writer).nodes.at(at_us).identities
        every = [row[0] for row in execute(writer, "SELECT id FROM node").fetchall()]
        with read_as_of(writer, NAMES, at_us) as again:
            assert then.groups_of(every) == again.nodes.identities.groups_of(every)


@settings(max_examples=40, deadline=None)
@given(alias_histories(), alias_histories())
def test_groups_as_of_midnight_stay_whatever_comes_later(earlier: list[StoredRecord], later: list[StoredRecord]) -> None:
    at_us = T0 - T0 % DAY_US + DAY_US
    late = [arriving(stored, at_us + stored.record.arrival_us % DAY_US) for stored in later if b'"runs"' not in stored.record.body]
    with opened() as writer:
        apply(writer, earlier)
        every = [row[0] for row in execute(writer, "SELECT id FROM node").fetchall()]
        before = reader_of(writer).nodes.at(at_us).identities.groups_of(every)
        apply(writer, [stored for stored in late if not is_event_of(stored.record, b"2026-11-18")])
        assert reader_of(writer).nodes.at(at_us).identities.groups_of(every) == before


def test_a_symlink_of_yesterday_that_is_withdrawn_today() -> None:
    link = facet(identifiers=[{"namespace": "hive://h:1", "name": "db.t", "type": "TABLE"}])
    no_links = facet(identifiers=[])
    events = [
        run_event(time_us=T0, outputs=[dataset("t", symlinks=link)]),
        run_event(time_us=T0 + DAY_US, outputs=[dataset("t", symlinks=no_links)]),
    ]
    with opened() as writer:
        apply(writer, records_of(events, arrival=T0 + 5 * DAY_US))
        id_ = NAMES.dataset("ns", "t")
        for at_us, members in ((T0 - 1, 0), (T0, 2), (T0 + DAY_US - 1, 2), (T0 + DAY_US, 1), (None, 1)):
            identities = reader_of(writer).nodes.at(at_us).identities
            groups = identities.groups_of([id_]).values()
            assert [len(identities.members(group)) for group in groups] == ([members] if members else []), at_us


def test_a_name_of_no_node_has_a_group_of_its_own() -> None:
    with opened() as writer:
        for namespace, name in (*SPELLINGS, *UNSEEN):
            identities = reader_of(writer).nodes.identities
            assert identities.members(identities.group_of(Spelling(1, namespace, name))) == []


@pytest.mark.parametrize("statement", [between_namespaces("ns", "s3a://b"), between_names(("ns", "x"), ("s3a://b", "/x/dt=1"))])
@pytest.mark.parametrize("erased", [False, True])
def test_as_of_a_time_the_rules_apply_to_the_names_of_an_alias_that_was_vetoed_later(statement: dict[str, object], *, erased: bool) -> None:
    bodies = [run_event(inputs=[dataset("x", "ns"), dataset("x", "s3://b")])]
    bodies += [run_event(run=RUNS[1], inputs=[dataset("/x/dt=1", "s3a://b")])] if erased else []
    dataset_id = NAMES.dataset("ns", "x")
    with opened() as writer:
        apply(writer, records_of(bodies))
        for number, kind in enumerate(("alias", "veto")):
            apply(writer, [operator(alias_operation(kind, statement), 900 + number, T0 + 1 + 2 * number)])
        apply(writer, [operator(erase(RUNS[1]), 902, T0 + 4)])
        for at_us, count in ((T0, 1), (T0 + 2, 2), (T0 + 3, 1)):
            identities = reader_of(writer).nodes.at(at_us).identities
            groups = identities.groups_of([dataset_id])
            assert len(identities.members(groups[dataset_id])) == count, at_us
            with read_as_of(writer, NAMES, at_us) as again:
                assert groups == again.nodes.identities.groups_of([dataset_id])
