"""What a connector's configuration and the rest of the evidence say: its datasets outside, its topics, and which belongs to which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.catalogue.family import ConnectorClass
from lineage_bridge.sources.common.connect.transforms.chain import Chain


class EvidenceKind(IntEnum):
    """SourceKinds of evidence, in the order in which they are looked for."""

    LISTED = 0
    """The configuration lists it."""
    MATCHED = 1
    """A pattern of the configuration matches it among what is known."""
    PREFIXED = 2
    """A topic that is known bears the connector's prefix or template."""
    PREDICTED = 3
    """It follows from a table or another object that the configuration lists."""
    TASK = 4
    """A task was given it."""
    OFFSETS = 5
    """The worker keeps an offset of it."""
    OBSERVED = 6
    """The worker saw the topic used."""
    INFERRED = 7
    """It is a guess: the class is not known."""


DATA = "data"
"""The role of a topic that carries the data; the other roles are heartbeat, transaction, schema-history and so on."""


class TopicUse(NamedTuple):
    """A topic and how it is known. `is_pattern`: the name is a regular expression, and the data decides which topics there are."""

    name: str
    role: str = DATA
    is_pattern: bool = False
    evidence: tuple[EvidenceKind, ...] = ()

    @property
    def is_internal(self) -> bool:
        """Whether it is none of the pipeline's data: the connector's own book-keeping, or a report of it."""
        return self.role != DATA


class ExternalDataset(NamedTuple):
    """A dataset outside of the connector's Kafka cluster. `symlinks` are its other names. `synthetic`: it is made up, not read."""

    dataset: DatasetName
    evidence: tuple[EvidenceKind, ...] = ()
    symlinks: tuple[DatasetName, ...] = ()
    synthetic: bool = False


class ConnectorFlow(NamedTuple):
    """A dataset outside and the topic that belongs to it; either may be unknown.

    `before` is the topic's name before the transforms (a source's) or as the worker consumes it (a sink's): what the chain is replayed
    on. `maybe`: only some records go that way, or none.
    """

    outside: DatasetName | None
    topic: str
    before: str
    evidence: tuple[EvidenceKind, ...] = ()
    maybe: bool = False
    is_pattern: bool = False


@dataclass(frozen=True)
class ConnectorEvidence:
    """What is known beside the configuration.

    `direction`: source or sink, as the worker says. `known_topics`: the cluster's topics, None if nobody asked. `observed_topics`: the
    worker's list of topics used. `tasks`: each task's configuration. `offsets`: the worker's offsets as it answers them, each with
    `partition` and `offset`. `settings`: values that stand for settings which only the worker can read, by key; `connector.id` is a
    managed connector's id, `aws.account` the account.
    """

    direction: str = ""
    known_topics: frozenset[str] | None = None
    observed_topics: tuple[str, ...] = ()
    tasks: tuple[Mapping[str, str], ...] = ()
    offsets: tuple[Mapping[str, Any], ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Connection:
    """A connector's datasets outside, topics and flows, each sorted. `unknown` says in words what could not be told, and why."""

    connector: ConnectorClass
    chain: Chain
    datasets: tuple[ExternalDataset, ...] = ()
    topics_in: tuple[TopicUse, ...] = ()
    topics_out: tuple[TopicUse, ...] = ()
    flows: tuple[ConnectorFlow, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def is_source(self) -> bool:
        """Whether it writes topics; otherwise it reads them."""
        return self.connector.direction == "source"


class FoundObject(NamedTuple):
    """What a reader found: an object outside and the topic for it (a source's before the transforms). None: it is not known.

    `dataset`: its name, where the templates do not make it. `maybe`: only some records go there.
    """

    object: str | None
    topic: str | None
    how: EvidenceKind
    dataset: DatasetName | None = None
    maybe: bool = False


def merge_evidence(found: Sequence[EvidenceKind]) -> tuple[EvidenceKind, ...]:
    """SourceKinds of evidence, each once, in order."""
    return tuple(sorted(set(found)))
