"""One Kafka cluster under its servers and its id, because facets say so; taken back by a veto, a contradiction, an erasure."""

import json
from collections.abc import Iterator

import pytest
from tests.corpora.aliases import alias_operation, between_namespaces, operator
from tests.events import KEY, RUNS, T0, dataset, erase, facet, records_of, run_event
from tests.store.reading import exported, reader_of
from tests.store.writing import apply, opened

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.model.history import AliasFilter
from lineage_bridge.store.write.apply import GraphWriter

B1, B2, CLUSTER, CONFLUENT = "kafka://b1.example.com:9092", "kafka://b2.example.com:9092", "kafka://lkc-1", "confluent://env-1/lkc-1"


def in_cluster(namespace: str, id_: str = "lkc-1", name: str = "orders") -> dict[str, object]:
    return dataset(name, namespace, confluent_kafka=facet(cluster_id=id_))


@pytest.fixture
def writer() -> Iterator[GraphWriter]:
    topics = [dataset("clicks", space) for space in (B1, B2, CONFLUENT)]
    events = [
        run_event(run=RUNS[0], inputs=[in_cluster(B1)]),
        run_event(run=RUNS[1], time_us=T0 + DAY_US, inputs=[in_cluster(B2)]),
        run_event(run=RUNS[2], inputs=topics),
    ]
    with opened() as made:
        apply(made, records_of(events, arrival=T0 + 5 * DAY_US))
        yield made


def members(writer: GraphWriter, namespace: str, at_us: int | None = None) -> set[str]:
    """The namespaces under which the topic `clicks`, of which no facet speaks, is one with that of a namespace."""
    nodes = reader_of(writer).nodes.at(at_us)
    node = nodes.by_spelling(NodeKind.DATASET, namespace, "clicks")
    assert node is not None
    return {node.namespace for node in nodes.group(node)[1]}


def differing(writer: GraphWriter) -> list[object]:
    return [d for d in reader_of(writer).whole.differences(Names(KEY)) if d.surplus or d.missing]


def test_all_topics_of_a_cluster_are_one_under_all_its_names(writer: GraphWriter) -> None:
    assert members(writer, B1) == members(writer, CLUSTER) == {B1, B2, CONFLUENT}
    assert differing(writer) == []


def test_as_of_a_time_what_had_been_claimed_by_then_counts(writer: GraphWriter) -> None:
    assert members(writer, B1, T0 - 1) == {B1}
    assert members(writer, B1, T0) == {B1, CONFLUENT}
    assert members(writer, B1, T0 + DAY_US) == {B1, B2, CONFLUENT}


def test_a_server_that_is_claimed_to_be_two_clusters_is_in_neither(writer: GraphWriter) -> None:
    apply(writer, records_of([run_event(run=RUNS[3], time_us=T0 + 2 * DAY_US, inputs=[in_cluster(B2, "lkc-2", "other")])]))
    assert members(writer, B2) == {B2}
    assert members(writer, B2, T0 + DAY_US) == {B1, B2, CONFLUENT}
    assert [record.standing for record in reader_of(writer).nodes.aliases(AliasFilter(kind="facet"))] == [True, False, False]
    apply(writer, [operator(alias_operation("veto", {**between_namespaces(B2, "kafka://lkc-2"), "kind": "facet"}))])
    assert members(writer, CLUSTER) == {B1, B2, CONFLUENT}
    assert differing(writer) == []


def test_a_veto_takes_one_claim_back_or_all_of_a_key(writer: GraphWriter) -> None:
    apply(writer, [operator(alias_operation("veto", {**between_namespaces(B1, CLUSTER), "kind": "facet", "evidence": "confluent_kafka"}))])
    assert members(writer, B1) == {B1}
    assert members(writer, B2) == {B2, CONFLUENT}
    apply(writer, [operator(alias_operation("veto", {"kind": "facet", "evidence": "confluent_kafka"}), 5_001)])
    assert members(writer, B2) == {B2}


def test_what_only_an_erased_run_claimed_is_gone_with_it(writer: GraphWriter) -> None:
    apply(writer, [operator(erase(RUNS[1]))])
    assert members(writer, B1) == {B1, CONFLUENT}
    assert members(writer, B2) == {B2}
    assert differing(writer) == []


def test_an_erased_run_leaves_what_others_claim_and_since_when_they_do(writer: GraphWriter) -> None:
    apply(writer, records_of([run_event(run=RUNS[3], time_us=T0 + DAY_US, inputs=[in_cluster(B1)])], arrival=T0 + 5 * DAY_US))
    apply(writer, [operator(erase(RUNS[0]))])
    assert members(writer, B1, T0) == {B1}
    assert members(writer, B1, T0 + DAY_US) == {B1, B2, CONFLUENT}
    assert differing(writer) == []


def test_the_export_names_the_evidence(writer: GraphWriter) -> None:
    kinds = {line["kind"] for line in map(json.loads, exported(writer)) if line["type"] == "alias"}
    assert kinds == {"facet confluent_kafka", "rule confluent-cluster"}
