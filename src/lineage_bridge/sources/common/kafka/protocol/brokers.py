"""Whether librdkafka may connect to the brokers that a cluster advertises. It does not show its connections."""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from lineage_bridge.sources.common.kafka.settings import KafkaConnection


def check_brokers(settings: KafkaConnection, admin: AdminClient) -> None:
    """Check where a cluster's brokers are now, by their own answer. Raises KafkaException, SourceError.

    The brokers are listed by any broker: a new client has connections to `bootstrap_servers` alone, which were checked before.
    """
    try:
        found = admin.list_topics(timeout=settings.timeout_s)
    except KafkaException:
        admin.poll(0)  # the cause goes to the client's error_cb
        raise
    settings.outbound.check_servers((str(broker.host), broker.port) for broker in found.brokers.values())


def check_cluster(settings: KafkaConnection, config: Mapping[str, Any]) -> None:
    """Like the method, with a separate client of this configuration. Raises KafkaException, SourceError, ValueError."""
    check_brokers(settings, AdminClient({**config, "log_level": 0}))
