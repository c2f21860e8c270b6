"""Fetches topics, their configurations and access rules from the REST API of their cluster."""

import msgspec

from lineage_bridge.errors import MissingError
from lineage_bridge.sources.common.kafka.look.cluster import EVERY_HOST, AclRule, KafkaTopic
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.confluent.kafka_rest import Count, KafkaRest, Text

CONFIGURATIONS, RULES = "topics: configurations", "rights on topics"
"""What cannot be observed if these listings fail."""
_BY_RESOURCE_ID = "UserV2:*"
"""Makes the cluster name principals by their ids (sa-.., u-..) instead of by numbers that no other API knows."""


class _Topic(msgspec.Struct):
    topic_name: Text
    is_internal: bool = False
    partitions_count: Count = 0
    replication_factor: Count = 0


class _Config(msgspec.Struct):
    topic_name: str
    name: str
    value: str | None = None
    is_default: bool = False
    is_sensitive: bool = False
    source: str = ""

    @property
    def is_set_on_topic(self) -> bool:
        """Whether the value is set on the topic itself and is not sensitive."""
        return not self.is_sensitive and (self.source == "DYNAMIC_TOPIC_CONFIG" if self.source else not self.is_default)


class _Acl(msgspec.Struct):
    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    operation: str
    permission: str
    host: str = EVERY_HOST


def list_topics(rest: KafkaRest, failures: Failures) -> dict[str, KafkaTopic]:
    """Fetch all topics by name. Entries that cannot be read are left out and recorded. Raises SourceError."""
    listing = rest.list_readable(_Topic, "topics")
    listing.record_unreadable("topics", failures)
    return {entry.topic_name: _topic(entry) for entry in listing.entries}


def find_topic(rest: KafkaRest, name: str) -> KafkaTopic | None:
    """Fetch the topic with this name; None if it does not exist. Raises SourceError."""
    try:
        return _topic(rest.get(_Topic, "topics", name))
    except MissingError:
        return None


def list_configs(rest: KafkaRest, failures: Failures) -> dict[str, dict[str, str] | None]:
    """Fetch the settings that were set for each topic itself, by topic; None if one of them cannot be read. Raises SourceError."""
    listing = rest.list_readable(_Config, "topics", "-", "configs")
    listing.record_unreadable(CONFIGURATIONS, failures)
    found: dict[str, dict[str, str]] = {}
    for entry in listing.entries:
        if entry.is_set_on_topic:
            found.setdefault(entry.topic_name, {})[entry.name] = entry.value or ""
    return found | {str(unreadable.entry.get("topic_name")): None for unreadable in listing.unreadable}


def list_rules(rest: KafkaRest, failures: Failures) -> tuple[AclRule, ...]:
    """Fetch the access rules for reading and writing topics. Raises SourceError."""
    listing = rest.list_readable(_Acl, "acls", resource_type="TOPIC", principal=_BY_RESOURCE_ID)
    listing.record_unreadable(RULES, failures)
    return tuple(
        sorted(
            AclRule(entry.resource_name, entry.pattern_type, _principal(entry.principal), entry.operation, entry.permission == "ALLOW")
            for entry in listing.entries
            if entry.resource_type == "TOPIC"
            and entry.pattern_type in ("LITERAL", "PREFIXED")
            and entry.operation in ("ALL", "READ", "WRITE")
            and (entry.permission == "ALLOW" or entry.host == EVERY_HOST)
        )
    )


def _principal(text: str) -> str:
    """A principal with the prefix that Kafka uses for its type, such as `User:`."""
    return f"User:{text.removeprefix('UserV2:')}" if text.startswith("UserV2:") else text


def _topic(entry: _Topic) -> KafkaTopic:
    return KafkaTopic("", entry.is_internal, (0,) * entry.partitions_count, entry.replication_factor)
