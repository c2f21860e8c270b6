"""Every custom facet that an extraction of the organization emits conforms to its published schema."""

from collections import defaultdict

import pytest
from tests.confluent.cloud import running
from tests.corpora.published import facets, faults
from tests.sources.confluent.polling import MINUTE_US, T0

from lineage_bridge.openlineage.event_builder import OWN_FACETS
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import ConfluentSettings

SPACE = "confluent://env-p9k2x7/lkc-p1ord7"


def test_every_facet_that_an_extraction_emits_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as cloud:
        cloud.limits.scale = 1000
        for name, secret in cloud.environment().items():
            monkeypatch.setenv(name, secret)
        observer = ConfluentObserver("cc", ConfluentSettings.model_validate({**cloud.settings(), "groups_by": "rest"}))
        first = observer.observe(None, NO_METADATA, T0)
        second = observer.observe(first.snapshot, NO_METADATA, T0 + 5 * MINUTE_US)
        observer.close()
    events = [*first.events, *second.events]
    assert not faults(events)
    counts: dict[str, int] = defaultdict(int)
    for key, facet in (entry for event in events for entry in facets(event)):
        counts[key] += facet["_schemaURL"].startswith(OWN_FACETS)
    assert {key for key, count in counts.items() if count} == {
        "confluent_business_metadata",
        "confluent_cluster_link",
        "confluent_connector",
        "confluent_flink_statement",
        "confluent_kafka",
        "confluent_mirror",
        "confluent_mirror_lag",
        "confluent_producer",
        "confluent_schema_link",
        "confluent_statistics",
        "confluent_tableflow",
        "kafka_access",
        "kafka_connect",
        "kafka_connect_health",
        "kafka_group",
        "kafka_lag",
        "kafka_topic",
        "ksqldb",
        "ksqldb_query",
        "ksqldb_state",
        "ksqldb_window",
        "schema_registry",
    }
    (orders,) = [event["dataset"] for event in first.events if _is_topic(event, "orders")]
    assert orders["facets"]["confluent_kafka"]["tags"] == ["gold", "production"]


def _is_topic(event: dict, name: str) -> bool:
    dataset = event.get("dataset", {})
    return (dataset.get("namespace"), dataset.get("name")) == (SPACE, name) and "confluent_kafka" in dataset["facets"]
