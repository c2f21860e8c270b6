"""What of a cluster is to be told, and what was told before. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from lineage_bridge.sources.common.kafka.look.purposes import SYSTEM, purpose
from lineage_bridge.sources.common.kafka.settings import KafkaSettings


def matches(name: str, globs: Iterable[str]) -> bool:
    """Whether a name is one of these globs'."""
    return any(fnmatchcase(name, glob) for glob in globs)


def is_data(name: str, internal: bool = False) -> bool:
    """Whether a topic holds data of users'."""
    return not internal and purpose(name) not in SYSTEM


def is_reported(settings: KafkaSettings, name: str, internal: bool = False) -> bool:
    """Whether a topic is to be told."""
    if not matches(name, settings.topics) or matches(name, settings.exclude_topics):
        return False
    return settings.internal or is_data(name, internal)


@dataclass(frozen=True)
class RecordedNames:
    """What was told before: names that are looked for when they are listed no more, and where topics ended.

    The configurations of `settled` topics are not read this time.
    """

    topics: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()
    ends: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    transactions: frozenset[str] = frozenset()
