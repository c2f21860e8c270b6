"""What was seen of a cluster, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.observer import Unseen

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
UNDER_WAY = frozenset(("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"))
"""States of transactions that are not at their end."""


class KafkaTopic(NamedTuple):
    """A topic. `id` is new when a topic is made again under its name; empty if the brokers are too old to tell. `leaders`: by partition."""

    id: str = ""
    internal: bool = False
    leaders: tuple[int, ...] = ()
    replication: int = 0


class GroupMember(NamedTuple):
    """A member of a group. `topics`: what it subscribed to, by name or as `pattern` (a regular expression), and what it is assigned.

    `partitions` is -1 if it is not known how many it has.
    """

    client_id: str = ""
    host: str = ""
    topics: frozenset[str] = frozenset()
    pattern: str = ""
    partitions: int = 0


class Subtopology(NamedTuple):
    """A part of a Kafka Streams application: what it reads and what it writes between its parts and to its stores."""

    sources: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()


class KafkaGroup(NamedTuple):
    """A group. `members` is None if they could not be had; `protocol` is empty for groups that only keep offsets; `topics` is what is
    known of the group as a whole that it reads.
    """

    kind: str = CLASSIC
    state: str = ""
    protocol: str = "consumer"
    assignor: str = ""
    members: tuple[GroupMember, ...] | None = None
    topology: tuple[Subtopology, ...] = ()
    topics: frozenset[str] = frozenset()


class Transaction(NamedTuple):
    """A transactional id. `topics` are those of a transaction that is under way."""

    producer_id: int
    state: str = ""
    topics: frozenset[str] = frozenset()


class Producer(NamedTuple):
    """A producer that a topic's leaders remember. `last_ms` is the time of its newest record."""

    id: int
    last_ms: int = -1


class AclRule(NamedTuple):
    """A right to read or write topics: `pattern` is LITERAL (`*` is all) or PREFIXED."""

    name: str
    pattern: str
    principal: str
    operation: str
    allows: bool = True


class RecordSample(NamedTuple):
    """What the newest records of a topic looked like: fields, and ids of schemas of a registry."""

    fields: tuple[SchemaField, ...] = ()
    ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class ClusterState:
    """One look at a cluster.

    What is None could not be had at all, and what is missing in a mapping could not be had of that name; `unseen` tells why. Of names
    that were known before and are not listed now, `topics_gone`, `groups_gone` and `transactions_gone` are no more; the rest is hidden.
    Offsets are by partition, -1 where there is none. The configurations of `settled` topics were not asked for.
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
