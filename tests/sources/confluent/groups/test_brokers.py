"""Groups by the brokers' own protocol with the API key of the cluster: a real broker as a cluster of Confluent Cloud."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from msgspec.structs import replace
from tests.corpora.published import faults
from tests.servers.broker import ADMIN, Kafka, password_of
from tests.sources.confluent.groups.test_groups import Api, event_of
from tests.sources.confluent.polling import LKC, SPACE, Polling, polling
from tests.sources.kafka.summaries import summaries

from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.groups.plane import planes


@pytest.fixture
def cluster(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> Iterator[Polling]:
    monkeypatch.setenv("SECRET", password_of(ADMIN))
    key = {"key": ADMIN, "secret": "${env:SECRET}"}
    with polling(Api(), planes, NO_METADATA, kafka={LKC: key}, ca_file=str(kafka.tls.authority), timeout_s=30) as poller:
        (here,) = poller.observed.kafka_clusters
        poller.observed = replace(poller.observed, kafka_clusters=(replace(here, bootstrap=kafka.address("plain-ssl")),))
        yield poller


def group_lines(seen: Observation, group: str) -> list[str]:
    return [line for line in summaries(seen.events) if f"/{group}:" in line]


def test_groups_lag_and_transactional_producers(kafka: Kafka, cluster: Polling) -> None:
    kafka.create_topics("cloud-orders", "cloud-bills")
    kafka.produce("cloud-orders", [b"1", b"2", b"3"])
    kafka.consume("cloud-orders", 3, "cloud-reader")
    kafka.consume("cloud-orders", 3, "connect-lcc-cloud1")
    kafka.produce("cloud-orders", [b"4", b"5"])
    producer = Producer({**kafka.client_config(), "transactional.id": "cloud-writer"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("cloud-bills", b"bill")
    producer.commit_transaction(30)
    del producer  # one that outlives its broker complains of it
    first = cluster.poll()
    assert group_lines(first, "cloud-reader") == ["COMPLETE consumer-group/cloud-reader: cloud-orders"]
    assert group_lines(first, "cloud-writer") == ["START producer/cloud-writer:  -> cloud-bills"]
    assert not group_lines(first, "connect-lcc-cloud1")
    assert event_of(first, "cloud-reader")["job"]["namespace"] == SPACE
    assert event_of(first, "cloud-reader")["run"]["facets"]["kafka_lag"]["topics"] == {"cloud-orders": 2}
    assert not faults(first.events)
    assert not cluster.server.asked  # by REST
    metadata = cluster.shared_metadata.clusters[0]
    assert metadata.groups["connect-lcc-cloud1"] == {"cloud-orders"}
    assert (metadata.read["cloud-reader", "cloud-orders"], metadata.ends["cloud-orders"]) == (3, 5)

    kafka.consume("cloud-orders", 2, "cloud-reader")
    second = cluster.poll()
    assert group_lines(second, "cloud-reader") == ["START consumer-group/cloud-reader: cloud-orders=2"]
    admin = kafka.admin()
    admin.delete_consumer_groups(["cloud-reader"])["cloud-reader"].result(30)
    third = cluster.poll()
    assert group_lines(third, "cloud-reader") == ["ABORT consumer-group/cloud-reader: cloud-orders=2"]


def test_state_from_the_brokers_is_kept_when_only_rest_answers(kafka: Kafka, cluster: Polling) -> None:
    kafka.create_topics("cloud-clicks")
    kafka.produce("cloud-clicks", [b"1"])
    kafka.consume("cloud-clicks", 1, "cloud-clicker")
    cluster.poll()
    before = cluster.snapshot
    (here,) = cluster.observed.kafka_clusters
    cluster.observed = replace(cluster.observed, kafka_clusters=(replace(here, bootstrap="127.0.0.1:1"),))
    cluster.server.credentials = f"{ADMIN}:{password_of(ADMIN)}"
    api = cluster.server.api
    assert isinstance(api, Api)
    api.states["cloud-clicker"] = "STABLE"
    api.read["cloud-clicker"] = {"cloud-clicks": [1]}
    seen = cluster.poll()
    assert group_lines(seen, "cloud-clicker") == ["START consumer-group/cloud-clicker: cloud-clicks=0"]
    assert not [event for event in seen.events if event["eventType"] == "ABORT" and "producer" in event["job"]["name"]]
    assert cluster.snapshot["producers"] == before["producers"]
