"""Node ids: a name's id gives the name back; types come of facets, names and namespaces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.graph.identity.node_ids import STATED, dataset_type, job_type, make_node_id, parse_node_id, with_whole_namespace
from lineage_bridge.graph.ids import NodeKind

CASES = [
    ("confluent://env-abc/lkc-123", "orders", "confluent:kafka_topic:env-abc:lkc-123/orders"),
    ("confluent://env-abc/lkc-123", "tableflow/orders", "confluent:tableflow_table:env-abc:lkc-123/tableflow/orders"),
    ("confluent://env-abc/lsrc-9", ":.ctx:orders-value", "confluent:schema:env-abc:lsrc-9/:.ctx:orders-value"),
    ("databricks://workspace-1", "main.sales.orders", "databricks:uc_table:workspace-1:main.sales.orders"),
    ("unitycatalog://dbc-1.cloud.databricks.com", "a.b.c", "databricks:uc_table:dbc-1.cloud.databricks.com:a.b.c"),
    ("databricks://https://dbc-1", "a.b.c", "databricks:uc_table:databricks~3A//https~3A//dbc-1:a.b.c"),
    ("aws://us-west-2/my-database", "orders", "aws:glue_table:us-west-2:my-database/orders"),
    ("arn:aws:glue:us-west-2:42", "table/my-database/orders", "aws:glue_table:us-west-2/42:my-database/orders"),
    ("google://project/sales", "orders", "google:google_table:project:sales.orders"),
    ("bigquery", "project.sales.orders", "google:google_table:project:sales.orders"),
    ("bigquery", "orders", "google:google_table:bigquery:orders"),
    ("kafka://host:9092", "orders", "external:kafka_topic:kafka~3A//host~3A9092:orders"),
    ("kafka://lkc-1", "orders", "confluent:kafka_topic:kafka~3A//lkc-1:orders"),
    ("s3://bucket", "a~b:c/d\n", "external:external_dataset:s3~3A//bucket:a~7Eb:c/d~0A"),
    ("", "", "external:external_dataset::"),
]


@pytest.mark.parametrize(("namespace", "name", "id_"), CASES)
def test_a_dataset_has_this_id_and_its_id_gives_the_name_back(namespace: str, name: str, id_: str) -> None:
    assert make_node_id(NodeKind.DATASET, namespace, name).id == id_
    candidates = parse_node_id(id_)
    assert candidates
    assert (namespace, name) in candidates.exact


_spaces = st.sampled_from([space for space, *_ in CASES]) | st.builds(
    "{}://{}".format,
    st.sampled_from(["confluent", "databricks", "aws", "google", "kafka", "arn:aws", "x"]),
    st.text("ab/:.~\n", max_size=8),
)
_names = st.sampled_from([name for _, name, _ in CASES]) | st.text("ab/:.~\n*[ ", max_size=8)


@given(st.sampled_from([NodeKind.DATASET, NodeKind.JOB]), _spaces | st.text(max_size=5), _names | st.text(max_size=5))
def test_the_id_of_any_name_gives_it_back(kind: NodeKind, namespace: str, name: str) -> None:
    short = make_node_id(kind, namespace, name)
    for id_ in (short.id, with_whole_namespace(short, namespace, name).id):
        candidates = parse_node_id(id_)
        assert candidates
        assert candidates.kind == kind
        assert (namespace, name) in candidates.exact
    assert not short.sure or parse_node_id(short.id).exact[0] == (namespace, name)  # type: ignore[union-attr]  # it is an id


def _facet(integration: str, job_type_text: str = "") -> str:
    return json.dumps({"processingType": "STREAMING", "integration": integration, **({"jobType": job_type_text} if job_type_text else {})})


@pytest.mark.parametrize(
    ("namespace", "name", "facet", "type_"),
    [
        ("confluent://e/lkc-1", "postgres-cdc", None, "connector"),
        ("confluent://e/lkc-1", "flink/sums", None, "flink_job"),
        ("confluent://e/lkc-1", "ksqldb/lksqlc-1/CSAS_1", None, "ksqldb_query"),
        ("confluent://e/lkc-1", "consumer-group/billing", _facet("KAFKA", "CONSUMER_GROUP"), "consumer_group"),
        ("confluent://e/lkc-1", "tableflow/orders", None, "tableflow_sync"),
        ("confluent://e/lkc-1", "cluster-link/dr", None, "cluster_link"),
        ("kafka://host:9092", "billing", _facet("KAFKA", "CONSUMER_GROUP"), "consumer_group"),
        ("kafka-connect://c:8083", "sink", None, "connector"),
        ("anywhere", "sink-0", _facet("KAFKA_CONNECT", "TASK"), "connector_task"),
        ("spark", "app", _facet("SPARK", "APPLICATION"), "spark_job"),
        ("databricks://workspace-1", "etl-pipeline", None, "job"),
        ("databricks://workspace-1", "etl-pipeline", _facet(STATED, "NOTEBOOK"), "notebook"),
        ("anywhere", "x", "no facet", "job"),
    ],
)
def test_the_type_of_a_job(namespace: str, name: str, facet: str | None, type_: str) -> None:
    assert job_type(namespace, name, facet) == type_


@pytest.mark.parametrize(
    ("namespace", "type_"),
    [
        ("postgres://h:1", "external_dataset"),
        ("kafka://h:1", "kafka_topic"),
        ("confluent://e/lkc-1", "kafka_topic"),
        ("aws://us-east-1/sales", "catalog_table"),
        ("arn:aws:glue:us-east-1:42", "catalog_table"),
        ("arn:aws:dynamodb:us-east-1:42", "external_dataset"),
    ],
)
def test_the_type_of_a_dataset(namespace: str, type_: str) -> None:
    assert dataset_type(namespace, "x") == type_


def test_an_id_without_its_cluster_or_with_an_environment_in_the_place_of_the_workspace_says_where_to_look() -> None:
    topic, job, table = (
        parse_node_id(text)
        for text in ("confluent:kafka_topic:env-1:orders", "confluent:flink_job:env-1:sums", "databricks:uc_table:env-1:a.b.c")
    )
    assert topic
    assert job
    assert table
    assert (topic.exact, topic.tiers) == ((), ((("confluent://env-1/*", "orders"),),))
    assert job.tiers == ((("confluent://env-1/*", "sums"), ("confluent://env-1/*", "flink/sums")),)
    assert table.tiers == ((("databricks://*", "a.b.c"), ("unitycatalog://*", "a.b.c")),)


@pytest.mark.parametrize("text", ["", "orders", "confluent:kafka_topic:env-1", "nowhere:kafka_topic:e:n", "confluent:no_type:e:n"])
def test_what_is_no_id(text: str) -> None:
    assert parse_node_id(text) is None
