"""OpenLineage's names, put together from what other systems tell."""

import pytest

from lineage_bridge.openlineage.jdbc.datasets import jdbc_dataset as jdbc
from lineage_bridge.openlineage.naming import dataset


@pytest.mark.parametrize(
    ("namespace", "name", "expected"),
    [
        ("postgres://db", "shop.public.orders", ("postgres://db:5432", "shop.public.orders")),
        ("postgres://db:6432", "shop.public.orders", ("postgres://db:6432", "shop.public.orders")),
        ("redis://cache", "0", ("redis://cache:6379", "0")),
        ("custom://somewhere", "x", ("custom://somewhere", "x")),
        ("azurecosmos://h/dbs/d", "colls/c", ("azurecosmos://h/dbs/d", "colls/c")),
        ("bigquery", "p.d.t", ("bigquery", "p.d.t")),
        ("pubsub", "topic:p:t", ("pubsub", "topic:p:t")),
        ("inmemory://", "x", ("inmemory://", "x")),
        ("arn:aws:kinesis:eu-west-1:1", "stream/s", ("arn:aws:kinesis:eu-west-1:1", "stream/s")),
        ("s3a://bucket", "/a//b/", ("s3://bucket", "a/b")),
        ("s3://bucket", "", ("s3://bucket", "/")),
        ("gcs://bucket", "a", ("gs://bucket", "a")),
        ("abfss://c@a.dfs.core.windows.net", "/a/", ("abfss://c@a.dfs.core.windows.net", "a")),
        ("hdfs://namenode:8020", "topics/a", ("hdfs://namenode:8020", "/topics/a")),
        ("file", "/data//in/", ("file", "/data/in")),
        ("file", "in.txt", ("file", "in.txt")),
    ],
)
def test_a_namespace_and_a_name_make_a_dataset(namespace, name, expected):
    assert dataset(namespace, name) == expected


@pytest.mark.parametrize(
    ("url", "name", "expected"),
    [
        ("jdbc:sap://hana:30015", "APP.ORDERS", ("hana://hana:30015", "APP.ORDERS")),
        ("jdbc:vertica://v/db", "orders", ("vertica://v:5433", "db.orders")),
        ("jdbc:informix-sqli://i:9088/stores", "app.orders", ("informix://i:9088", "stores.app.orders")),
        ("jdbc:singlestore://s/db", "orders", ("singlestore://s:3306", "db.orders")),
        ("jdbc:nothing://s/db", "orders", ("nothing://s", "db.orders")),
    ],
)
def test_a_jdbc_url_and_a_table_make_a_dataset(url, name, expected):
    assert jdbc(url, name) == expected
