"""Derives from a topic's name what the topic is for: an internal topic of Kafka, Connect, a registry, Kafka Streams or MirrorMaker, or dead
letters.
"""

import re
from collections.abc import Collection, Iterable

SYSTEM = frozenset(("KAFKA", "CONNECT", "REGISTRY", "CONFLUENT", "MIRROR_MAKER"))
"""Purposes of topics without users' data."""

_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("KAFKA", re.compile(r"__(consumer_offsets|transaction_state|share_group_state|cluster_metadata|remote_log_metadata)")),
    ("REGISTRY", re.compile(r"_schemas(_.*)?|__?schema[-_]registry.*|kafkasql-journal|_schema_encoders|__apicurio.*")),
    ("CONFLUENT", re.compile(r"__?confluent.*|_confluent.*|__amazon_msk.*|__strimzi.*|_redpanda.*|__KafkaCruiseControl.*")),
    ("MIRROR_MAKER", re.compile(r"mm2-(configs|offsets|status|offset-syncs)\..*|(.*\.)?heartbeats|.*\.checkpoints\.internal")),
    ("CONNECT", re.compile(r"((.*[._-])?_?connect([._-].*)?[._-])(configs?|offsets?|status(es)?)")),
    ("CHANGELOG", re.compile(r".*-changelog")),
    ("REPARTITION", re.compile(r".*-(repartition|subscription-(registration|response)-topic)")),
    ("DEAD_LETTERS", re.compile(r"(.*[._-])?(dlq|dlt|dead[._-]?letters?([._-]queue)?)([._-].*)?", re.IGNORECASE)),
    ("CONTROL", re.compile(r"control-iceberg.*|_*debezium[-_]heartbeat.*|.*schema-?changes.*|schemahistory.*", re.IGNORECASE)),
)


def purpose(name: str) -> str:
    """Return what a topic with this name is for: KAFKA, REGISTRY, CONFLUENT, MIRROR_MAKER, CONNECT, CHANGELOG, REPARTITION,
    DEAD_LETTERS or CONTROL, else DATA.
    """
    return next((kind for kind, rule in _RULES if rule.fullmatch(name)), "DATA")


def mirrors(names: Iterable[str]) -> frozenset[str]:
    """The aliases of the clusters from which MirrorMaker copies topics. They occur in the names of its heartbeat and checkpoint topics."""
    found = (re.fullmatch(r"(?P<alias>[^.].*?)\.(heartbeats|checkpoints\.internal)", name) for name in names)
    return frozenset(match["alias"] for match in found if match)


def mirror_of(name: str, aliases: Collection[str]) -> tuple[str, str] | None:
    """The alias of the cluster, and the topic in it, from which MirrorMaker copied a topic, by the topic's name."""
    alias = max((alias for alias in aliases if name.startswith(f"{alias}.")), key=len, default=None)
    return None if alias is None else (alias, name[len(alias) + 1 :])


_COUNTED = re.compile(r"[-_.]?([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d+)$")


def stems(name: str) -> tuple[str, ...]:
    """Return a transactional id, and then shorter and shorter prefixes of it, each without one of the generated numbers and UUIDs at
    its end.
    """
    found = [name]
    while (shorter := _COUNTED.sub("", found[-1])) and shorter != found[-1]:
        found.append(shorter)
    return tuple(found)


_THREAD = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-StreamThread-\d+(-consumer)?$")


def is_streams_client(client_id: str) -> bool:
    """Whether Kafka Streams generated this client id."""
    return _THREAD.search(client_id) is not None
