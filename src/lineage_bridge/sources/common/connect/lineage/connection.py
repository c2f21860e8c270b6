"""What a configuration and other evidence say about a connector: its external datasets, its topics, and the flows between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.catalogue.family import ConnectorClass
from lineage_bridge.sources.common.connect.transforms.chain import Chain


class EvidenceKind(IntEnum):
    """Kinds of evidence, in the order in which they are looked for."""

    LISTED = 0
    """The configuration lists it."""
    MATCHED = 1
    """A pattern of the configuration matches it among the known topics."""
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
    """A topic, and the evidence for it. `is_pattern`: the name is a regular expression, and only the data decides which topics match."""

    name: str
    role: str = DATA
    is_pattern: bool = False
    evidence: tuple[EvidenceKind, ...] = ()

    @property
    def is_internal(self) -> bool:
        """Whether it holds no data of the pipeline, but the connector's own records or reports."""
        return self.role != DATA


class ExternalDataset(NamedTuple):
    """A dataset outside of the connector's Kafka cluster. `symlinks`: its other names. `synthetic`: its data is generated."""

    dataset: DatasetName
    evidence: tuple[EvidenceKind, ...] = ()
    symlinks: tuple[DatasetName, ...] = ()
    synthetic: bool = False


class ConnectorFlow(NamedTuple):
    """An external dataset and the topic that belongs to it; either may be unknown.

    `before`: the topic's name before the transforms (source) or as the worker consumes it (sink), on which the chain is replayed. `maybe`:
    perhaps only some records flow this way, or none.
    """

    outside: DatasetName | None
    topic: str
    before: str
    evidence: tuple[EvidenceKind, ...] = ()
    maybe: bool = False
    is_pattern: bool = False


@dataclass(frozen=True)
class ConnectorEvidence:
    """What is known besides the configuration.

    `direction`: source or sink, as the worker reports. `known_topics`: the topics of the cluster, None if they were not listed.
    `observed_topics`: the worker's list of topics used. `tasks`: the configuration of each task. `offsets`: the worker's offsets, each with
    `partition` and `offset`. `settings`: values of settings that only the worker can resolve, by key; `connector.id` is a managed
    connector's id, `aws.account` the account.
    """

    direction: str = ""
    known_topics: frozenset[str] | None = None
    observed_topics: tuple[str, ...] = ()
    tasks: tuple[Mapping[str, str], ...] = ()
    offsets: tuple[Mapping[str, Any], ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Connection:
    """A connector's external datasets, topics and flows, each sorted. `unknown` describes what could not be determined, and why."""

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
    """An external object and its topic (of a source: before the transforms), as a reader found them; None if unknown.

    `dataset`: its name, if it is not made by the templates. `maybe`: only some records go there.
    """

    object: str | None
    topic: str | None
    how: EvidenceKind
    dataset: DatasetName | None = None
    maybe: bool = False


def merge_evidence(found: Sequence[EvidenceKind]) -> tuple[EvidenceKind, ...]:
    """The kinds of evidence without duplicates, in order."""
    return tuple(sorted(set(found)))
