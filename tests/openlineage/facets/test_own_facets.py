"""The schemas of our own facets, as they are published."""

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.corpora.published import faults, schemas

from lineage_bridge import sources
from lineage_bridge.openlineage.event_builder import OWN_FACETS, EventBuilder

SOURCES = Path(sources.__path__[0])
DOCS = Path(__file__).parents[3] / "docs"
OUT = EventBuilder("https://example.com/test")


@pytest.mark.parametrize(("url", "schema"), [pytest.param(*entry, id=entry[0].rpartition("/")[2]) for entry in schemas()])
def test_each_is_a_schema_of_one_facet_that_the_documents_name(url: str, schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    name = url.rpartition("/")[2].removesuffix(".json")
    assert schema["$id"] == url
    assert list(schema["$defs"]) == [name]
    ((key, reference),) = schema["properties"].items()
    assert reference == {"$ref": f"#/$defs/{name}"}
    assert schema["$defs"][name]["description"]
    assert any(f"`{key}`" in path.read_text() for path in DOCS.glob("*.md"))


def test_every_facet_of_ours_is_published() -> None:
    written = re.compile(r"\bown_facet\(\s*\"([\d-]+)\",\s*\"(\w+)\"")
    used = {f"{OWN_FACETS}{version}/{name}.json" for path in SOURCES.rglob("*.py") for version, name in written.findall(path.read_text())}
    assert len(used) > 10
    assert used <= {url for url, _ in schemas()}


def test_what_differs_from_a_schema_is_found() -> None:
    def faults_of(key: str, name: str, **members: object) -> list[str]:
        return faults([OUT.dataset_event(0, ("ns", "orders"), {key: OUT.own_facet("1-0-0", name, **members)})])

    name = "ConfluentKafkaDatasetFacet"
    assert not faults_of("confluent_kafka", name, cluster_id="lkc-1", environment_id="env-1", partitions=3)
    (missing,) = faults_of("confluent_kafka", name, cluster_id="lkc-1")
    assert "environment_id" in missing
    (wrong,) = faults_of("confluent_kafka", name, cluster_id="lkc-1", environment_id="env-1", partitions="3")
    assert "'3' is not of type 'integer'" in wrong
    (more,) = faults_of("confluent_kafka", name, cluster_id="lkc-1", environment_id="env-1", shards=3)
    assert "shards" in more
    (elsewhere,) = faults_of("confluent", name, cluster_id="lkc-1", environment_id="env-1")
    assert "not published" in elsewhere
