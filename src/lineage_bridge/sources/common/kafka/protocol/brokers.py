"""Checks whether connections to the brokers that a cluster advertises are allowed. librdkafka, which opens the connections, has no such
check.
"""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from lineage_bridge.sources.common.kafka.settings import KafkaConnection


def check_brokers(settings: KafkaConnection, admin: AdminClient) -> None:
    """Check the addresses of a cluster's brokers, as the cluster itself reports them now. Raises KafkaException, SourceError.

    Any broker reports all of them. A new client only has connections to `bootstrap_servers`, which were checked before.
    """
    try:
        found = admin.list_topics(timeout=settings.timeout_s)
    except KafkaException:
        admin.poll(0)  # the cause goes to the client's error_cb
        raise
    settings.outbound.check_servers((str(broker.host), broker.port) for broker in found.brokers.values())


def check_cluster(settings: KafkaConnection, config: Mapping[str, Any]) -> None:
    """Like `check_brokers`, with a new client for this configuration. Raises KafkaException, SourceError, ValueError."""
    check_brokers(settings, AdminClient({**config, "log_level": 0}))
