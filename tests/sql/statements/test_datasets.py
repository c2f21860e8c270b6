"""The dataset of a table of Flink, by its options: no user and no password of an address reaches a name."""

import pytest

from lineage_bridge.sql.statements.datasets import dataset_of


@pytest.mark.parametrize(
    ("options", "dataset"),
    [
        (
            {"connector": "jdbc", "url": "jdbc:oracle:thin:ann/pw@//ora:1522/shop", "table-name": "ORDERS", "username": "ann"},
            ("oracle://ora:1522", "shop.ANN.ORDERS"),
        ),
        ({"connector": "jdbc", "url": "jdbc:mysql://a,b:3307/shop?password=x", "table-name": "t"}, ("mysql://a:3306,b:3307", "shop.t")),
        (
            {"connector": "elasticsearch-7", "hosts": "http://me:pw@es1:9200;http://es2:9200", "index": "i"},
            ("elasticsearch://es1:9200", "i"),
        ),
        (
            {"connector": "mongodb", "uri": "mongodb://me:p@ss@m1:27018,m2/db?w=1", "database": "d", "collection": "c"},
            ("mongodb://m1:27018", "d.c"),
        ),
        ({"connector": "mongodb-cdc", "hosts": "m1:27018,m2", "database": "d", "collection": "c"}, ("mongodb://m1:27018", "d.c")),
        (
            {"connector": "mongodb", "uri": "mongodb+srv://me:pw@c0.ab.mongodb.net/", "database": "d", "collection": "c"},
            ("mongodb://c0.ab.mongodb.net", "d.c"),
        ),
        (
            {"connector": "mongodb-cdc", "scheme": "mongodb+srv", "hosts": "c0.ab.mongodb.net", "database": "d", "collection": "c"},
            ("mongodb://c0.ab.mongodb.net", "d.c"),
        ),
        ({"connector": "jdbc", "url": "jdbc:h2:mem:test", "table-name": "t"}, None),
    ],
)
def test_a_table_is_named_without_users_and_passwords(options: dict[str, str], dataset: tuple[str, str] | None) -> None:
    assert dataset_of(options, {}, ("c", "d", "t")) == dataset
