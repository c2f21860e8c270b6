"""The state of a cluster at one poll, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.observer import Unseen

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
UNDER_WAY = frozenset(("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"))
"""States of transactions that have not ended."""


class KafkaTopic(NamedTuple):
    """A topic, as one poll found it."""

    id: str = ""
    internal: bool = False
    leaders: tuple[int, ...] = ()
    replication: int = 0


class GroupMember(NamedTuple):
    """A member of a group.

    `topics`: its subscribed and assigned topics; `pattern`: the regular expression of its subscription. `partitions` is -1 if their
    number is unknown.
    """

    client_id: str = ""
    host: str = ""
    topics: frozenset[str] = frozenset()
    pattern: str = ""
    partitions: int = 0


class Subtopology(NamedTuple):
    """A subtopology of a Kafka Streams application: the topics it reads, and the internal topics it writes."""

    sources: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()


class KafkaGroup(NamedTuple):
    """A consumer group, as one poll found it.

    `members` is None if they could not be fetched. `protocol` is empty for groups that only commit offsets. `topics`: the topics that
    the group reads, if they are only known for the group as a whole.
    """

    kind: str = CLASSIC
    state: str = ""
    protocol: str = "consumer"
    assignor: str = ""
    members: tuple[GroupMember, ...] | None = None
    topology: tuple[Subtopology, ...] = ()
    topics: frozenset[str] = frozenset()


class Transaction(NamedTuple):
    """A transactional id. `topics` are those of its open transaction."""

    producer_id: int
    state: str = ""
    topics: frozenset[str] = frozenset()


class Producer(NamedTuple):
    """A producer that the leaders of a topic remember. `last_ms` is the time of its newest record."""

    id: int
    last_ms: int = -1


class AclRule(NamedTuple):
    """An access rule for reading or writing topics. `pattern` is LITERAL (`*` matches all) or PREFIXED."""

    name: str
    pattern: str
    principal: str
    operation: str
    allows: bool = True


class RecordSample(NamedTuple):
    """The content of a topic's newest records: their fields, and the ids of their schemas in a registry."""

    fields: tuple[SchemaField, ...] = ()
    ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class ClusterState:
    """The state of a cluster at one poll.

    None means that a listing failed; a name missing from a mapping could not be fetched; `unseen` has the reasons. Names that were known
    before and are not listed now were deleted if they are in `topics_gone`, `groups_gone` or `transactions_gone`; the others are hidden
    from this user. Offsets are by partition, -1 where there is none. The configurations of `settled` topics were not fetched.
    """

    cluster: str
    brokers: tuple[str, ...] = ()
    controller: int = -1
    topics: Mapping[str, KafkaTopic] | None = None
    topics_gone: frozenset[str] = frozenset()
    settled: frozenset[str] = frozenset()
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    starts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    ends: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    groups: Mapping[str, KafkaGroup] | None = None
    groups_gone: frozenset[str] = frozenset()
    committed: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    transactions: Mapping[str, Transaction] | None = None
    transactions_gone: frozenset[str] = frozenset()
    producers: Mapping[str, tuple[Producer, ...]] = field(default_factory=dict)
    rules: tuple[AclRule, ...] | None = None
    samples: Mapping[str, Mapping[str, RecordSample]] = field(default_factory=dict)
    unseen: tuple[Unseen, ...] = ()
