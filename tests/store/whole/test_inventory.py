"""The whole graph as a list: every dataset and job once, and each found again by its node id."""

from hypothesis import example, given, settings
from tests.corpora.aliases import alias_histories, alias_operation, between_names, between_namespaces, operator
from tests.events import T0, dataset, records_of, run_event
from tests.store.reading import reader_of
from tests.store.tables import execute
from tests.store.writing import apply, opened

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import StoredRecord

EVERY = (NodeKind.DATASET, NodeKind.JOB)
UNITY, DATABRICKS = "unitycatalog://dbc.example.com", "databricks://dbc.example.com"
APART = [
    *records_of([run_event(inputs=[dataset("a.b.c", UNITY), dataset("a.b.c", DATABRICKS), dataset("p.d.t", "bigquery")])]),
    operator(alias_operation("veto", between_namespaces(DATABRICKS, UNITY))),
]


@settings(max_examples=60, deadline=None)
@given(alias_histories())
@example(APART)
def test_every_node_is_there_once_and_its_id_finds_it_again(records: list[StoredRecord]) -> None:
    with opened() as writer:
        apply(writer, records)
        ids = [row[0] for row in execute(writer, "SELECT id FROM node WHERE kind IN (1, 2)")]
        nodes = reader_of(writer).nodes
        listed = [node for _, some in reader_of(writer).inventory.heads(EVERY) for node in some]
        assert sorted(node.id for node in listed) == sorted({nodes.head(id_) for id_ in ids})
        entries = reader_of(writer).inventory.entries(listed)
        assert len({entry.node_id.id for entry in entries}) == len(entries)
        for entry in entries:
            assert reader_of(writer).inventory.by_node_id(entry.node_id.id) == [entry.node], entry.node_id
            assert {member.id for member in entry.members} == set(nodes.members(entry.node.id))


def test_two_names_that_no_rule_joins_have_two_ids() -> None:
    with opened() as writer:
        apply(writer, APART)
        reader = reader_of(writer)
        node_ids = {
            node.namespace: reader.inventory.described([node])[node.id].node_id.id
            for node in reader.nodes.matching(NodeKind.DATASET, None, None, None, 0)
        }
    assert node_ids == {
        DATABRICKS: "databricks:uc_table:dbc.example.com:a.b.c",
        UNITY: "databricks:uc_table:unitycatalog~3A//dbc.example.com:a.b.c",
        "bigquery": "google:google_table:p:d.t",
    }


def test_an_id_without_its_cluster_names_every_cluster_that_has_the_topic_also_one_known_by_its_alias() -> None:
    here = [
        dataset("orders", "confluent://env-1/lkc-1"),
        dataset("orders", "kafka://b2:9092"),
        dataset("orders", "confluent://env-2/lkc-9"),
    ]
    joined = alias_operation(
        "alias", between_namespaces("confluent://env-1/lkc-2", "kafka://b2:9092"), between_names(("x", "y"), ("x", "z"))
    )
    with opened() as writer:
        apply(writer, [*records_of([run_event(inputs=here)]), operator(joined)])
        reader = reader_of(writer)
        found = {node.namespace for node in reader.inventory.by_node_id("confluent:kafka_topic:env-1:orders")}
        assert found == {"confluent://env-1/lkc-1", "kafka://b2:9092"}
        assert [node.namespace for node in reader.inventory.by_node_id("confluent:kafka_topic:env-1:lkc-2/orders")] == ["kafka://b2:9092"]
        (entry,) = reader.inventory.entries(reader.inventory.by_node_id("confluent:kafka_topic:env-1:lkc-2/orders"))
        assert entry.node_id.id == "confluent:kafka_topic:env-1:lkc-2/orders"


def test_facets_and_times_are_those_of_all_names() -> None:
    here = [dataset("orders", "confluent://env-1/lkc-1", documentation={"_producer": "p", "_schemaURL": "u", "description": "Orders"})]
    there = [dataset("orders", "kafka://lkc-1")]
    early, late = run_event(run="1", inputs=here, time_us=T0), run_event(run="2", inputs=there, time_us=T0 + 5)
    with opened() as writer:
        apply(writer, records_of([early, late]))
        reader = reader_of(writer)
        (entry,) = reader.inventory.entries(reader.inventory.by_node_id("confluent:kafka_topic:env-1:orders"))
    assert set(entry.facets) == {"documentation"}
    assert (entry.first, entry.last) == (T0, T0 + 5)
