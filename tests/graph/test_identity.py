"""Which names stand for one dataset."""

import json

from tests.events import facet

from lineage_bridge.graph.identity import canonical, component, form_rank, symlinks


def links(*identifiers: tuple[str, str]) -> bytes:
    return json.dumps(facet(identifiers=[{"namespace": ns, "name": name, "type": "TABLE"} for ns, name in identifiers])).encode()


def test_a_symlink_names_another_dataset() -> None:
    assert symlinks(links(("hive://metastore:9083", "shop.orders"))) == [("hive://metastore:9083", "shop.orders", "TABLE")]


def test_a_table_of_a_flink_session_identifies_nothing() -> None:
    assert symlinks(links(("kafka://broker:9092", "default_catalog.default_database.orders"))) == []


def test_a_damaged_or_deleted_facet_names_nothing() -> None:
    assert symlinks(b'"no object"') == []
    assert symlinks(json.dumps(facet(_deleted=True)).encode()) == []


def test_a_component_is_the_same_from_each_of_its_members() -> None:
    joined = {1: [2], 2: [1, 3], 3: [2], 4: []}
    assert component(1, joined.__getitem__) == component(3, joined.__getitem__) == {1, 2, 3}
    assert component(4, joined.__getitem__) == {4}


def test_the_canonical_name_is_the_least_by_form_and_name() -> None:
    names = {1: ("zz-unknown://x", "a"), 2: ("s3://bucket", "b"), 3: ("s3://bucket", "a")}
    assert canonical([1, 2, 3], names) == canonical([3, 1, 2], names) == 3
    assert canonical([1], names) == 1


def test_forms_of_the_naming_specification_come_first() -> None:
    assert form_rank("kafka://b:9092") == form_rank("bigquery") == form_rank("arn:aws:glue:eu-west-1:1") == form_rank("file") == 0
    assert form_rank("confluent://env/lkc") == form_rank("my-warehouse") == 1
