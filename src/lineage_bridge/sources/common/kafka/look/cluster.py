"""Values for the state of a Kafka cluster, as one poll found it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.observer import Unseen

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
UNDER_WAY = frozenset(("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"))
"""States of transactions that have not ended."""


class KafkaTopic(NamedTuple):
    """A topic of Kafka, as one poll found it."""

    id: str = ""
    internal: bool = False
    leaders: tuple[int, ...] = ()
    replication: int = 0


class GroupMember(NamedTuple):
    """A member of a consumer group.

    `topics`: the topics that it subscribed to or was assigned; `pattern`: the regular expression of its subscription. `partitions` is
    -1 if their number is unknown.
    """

    client_id: str = ""
    host: str = ""
    topics: frozenset[str] = frozenset()
    pattern: str = ""
    partitions: int = 0


class Subtopology(NamedTuple):
    """A part of a Kafka Streams application that runs on its own: the topics it reads, and the internal topics it writes."""

    sources: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()


class KafkaGroup(NamedTuple):
    """A consumer group, as one poll found it.

    `members` is None if they could not be fetched. `protocol` is empty for groups that only commit offsets. `topics`: the topics that
    the group as a whole reads, if they are not known for each member.
    """

    kind: str = CLASSIC
    state: str = ""
    protocol: str = "consumer"
    assignor: str = ""
    members: tuple[GroupMember, ...] | None = None
    topology: tuple[Subtopology, ...] = ()
    topics: frozenset[str] = frozenset()


class Transaction(NamedTuple):
    """A transactional id of the cluster. `topics`: the topics that its open transaction writes to."""

    producer_id: int
    state: str = ""
    topics: frozenset[str] = frozenset()


class Producer(NamedTuple):
    """A producer that the brokers of a topic's partitions remember. `last_ms`: the time of its newest record."""

    id: int
    last_ms: int = -1


EVERY_HOST: Final = "*"
"""The host of an access rule that holds for all of them."""
EVERY_TOPIC: Final = "*"
"""The name in a literal access rule that is for all topics."""
EVERYBODY: Final = "User:*"
"""The principal of an access rule that is for all of them, whatever their type."""


class AclRule(NamedTuple):
    """An access rule for reading or writing topics. `pattern` is LITERAL (with `*` for all topics) or PREFIXED.

    A rule that allows may hold for some hosts only. Rules that deny for some hosts only are left out: from others, the principal may.
    """

    name: str
    pattern: str
    principal: str
    operation: str
    allows: bool = True


class RecordSample(NamedTuple):
    """What the newest records of a topic contain: the fields, and the ids of schemas in a registry."""

    fields: tuple[SchemaField, ...] = ()
    ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class ClusterState:
    """The state of a Kafka cluster, as one poll found it.

    A listing that failed is None. A name that a mapping lacks could not be fetched; `unseen` has the reasons. Names that were known
    before and are not listed now were deleted if they are in `topics_gone`, `groups_gone` or `transactions_gone`; all others are hidden
    from the user of the source. Offsets are by partition, -1 where there is none. The configurations of `settled` topics were not
    fetched.
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
