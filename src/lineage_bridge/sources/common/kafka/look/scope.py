"""Decides which topics of a cluster are reported, and defines the record of the names in the previous snapshot. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from lineage_bridge.sources.common.kafka.look.purposes import SYSTEM, purpose
from lineage_bridge.sources.common.kafka.settings import KafkaSettings


def matches(name: str, globs: Iterable[str]) -> bool:
    """Whether a name matches one of these globs."""
    return any(fnmatchcase(name, glob) for glob in globs)


def is_data(name: str, internal: bool = False) -> bool:
    """Whether a topic contains users' data, not Kafka's own or another program's state."""
    return not internal and purpose(name) not in SYSTEM


def is_reported(settings: KafkaSettings, name: str, internal: bool = False) -> bool:
    """Whether to report a topic."""
    if not matches(name, settings.topics) or matches(name, settings.exclude_topics):
        return False
    return settings.internal or is_data(name, internal)


@dataclass(frozen=True)
class RecordedNames:
    """Names in the previous snapshot, which a poll looks for if they are no longer listed, and the end offsets of topics.

    `settled`: topics whose configurations are not fetched at this poll.
    """

    topics: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()
    ends: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    transactions: frozenset[str] = frozenset()
