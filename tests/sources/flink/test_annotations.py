"""What users write of their jobs."""

from pathlib import Path

import pytest

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.flink.annotations import JobAnnotation, annotation_of, dataset_of, read_folder, read_text
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, ClusterMetadata, SharedMetadata

INDENTED = """
job:
  name: order-enrichment
  lineage:
    inputs:
      - kafka://commerce.public.orders
      - kafka://commerce.public.customers
    outputs:
      - kafka://order-events-enriched
    owner: data-platform-team
    description: "Joins orders with customer data, filters cancelled orders"
"""
FLAT = "\n".join(line.strip() for line in INDENTED.splitlines())
SAID = JobAnnotation(
    "order-enrichment",
    ("kafka://commerce.public.orders", "kafka://commerce.public.customers"),
    ("kafka://order-events-enriched",),
    owners=("data-platform-team",),
    description="Joins orders with customer data, filters cancelled orders",
)


@pytest.mark.parametrize("text", [INDENTED, FLAT, INDENTED.replace("    owner", "  owner").replace("    description", "  description")])
def test_a_job_as_it_is_printed_in_the_guide(text: str):
    assert read_text(text, "job.yaml") == (SAID,)


def test_many_jobs_in_one_file_and_a_folder_of_files(tmp_path: Path):
    (tmp_path / "a.yaml").write_text("jobs:\n- {name: one, outputs: kafka://x, tags: {team: a}}\n- {job: 'two*', groups: [g]}\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.yml").write_text(INDENTED + "---\nname: three\nowners: [x, y]\ntags: [pii, team=b]\n")
    (tmp_path / "notes.txt").write_text("not YAML: [")

    assert read_folder(str(tmp_path)) == (
        JobAnnotation("one", outputs=("kafka://x",), tags=(("team", "a"),)),
        JobAnnotation("two*", groups=("g",)),
        SAID,
        JobAnnotation("three", owners=("x", "y"), tags=(("pii", "true"), ("team", "b"))),
    )


def test_a_name_stands_before_a_pattern():
    every, exact = JobAnnotation("order*"), JobAnnotation("orders")

    assert annotation_of("orders", (every, exact)) == exact
    assert annotation_of("order-items", (every, exact)) == every
    assert annotation_of("payments", (every, exact)) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("job: [", "not YAML"),
        ("just words", "has no job"),
        ("job:\n  lineage: {inputs: [a]}", "without a name"),
        ("name: a\nimputs: [b]", "imputs"),
        ("name: a\ninputs: {b: c}", "not a list of names"),
        ("name: a\ntags: 5", "not a list"),
    ],
)
def test_what_is_no_annotation_is_reported(text: str, message: str):
    with pytest.raises(ConfigError, match=message) as caught:
        read_text(text, "job.yaml")
    assert "job.yaml" in str(caught.value)
    assert caught.value.hint


B1 = ClusterMetadata("one", "kafka://b1:9092", frozenset({"b1:9092", "b2:9092"}), frozenset({"orders", "a.b"}))
B9 = ClusterMetadata("two", "kafka://b9:9092", frozenset({"b9:9092"}), frozenset({"clicks"}))


@pytest.mark.parametrize(
    ("text", "around", "bootstrap", "expected"),
    [
        ("kafka://commerce.public.orders", NO_METADATA, "h:1,h:2", ("kafka://h:1", "commerce.public.orders")),
        ("kafka://orders", NO_METADATA, "", None),
        ("orders", SharedMetadata((B1, B9)), "", ("kafka://b1:9092", "orders")),
        ("kafka://new", SharedMetadata((B1, B9)), "", None),
        ("kafka://new", SharedMetadata((B1,)), "", ("kafka://b1:9092", "new")),
        ("kafka://b2:9092/orders", SharedMetadata((B1,)), "", ("kafka://b1:9092", "orders")),
        ("kafka://other:9092/orders", NO_METADATA, "", ("kafka://other:9092", "orders")),
        ("postgres://user:word@db/shop.public.orders", NO_METADATA, "", ("postgres://db:5432", "shop.public.orders")),
        ("s3a://lake/orders/", NO_METADATA, "", ("s3://lake", "orders")),
        ("hive://metastore:9083\nshop.orders", NO_METADATA, "", ("hive://metastore:9083", "shop.orders")),
        ("kafka://[", NO_METADATA, "", None),
    ],
)
def test_names_of_datasets(text: str, around: SharedMetadata, bootstrap: str, expected: tuple[str, str] | None):
    assert dataset_of(text, around, bootstrap) == expected
