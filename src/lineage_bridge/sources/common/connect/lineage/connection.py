"""The values that describe a connector's external datasets, its topics, and the flows between them, with the evidence for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.catalogue.family import ConnectorClass
from lineage_bridge.sources.common.connect.transforms.chain import Chain


class EvidenceKind(IntEnum):
    """The kinds of evidence for a dataset, topic or flow, in the order in which they are searched."""

    LISTED = 0
    """The configuration lists the name."""
    MATCHED = 1
    """A pattern in the configuration matches a known topic."""
    PREFIXED = 2
    """A known topic has the connector's prefix or matches its template."""
    PREDICTED = 3
    """The topic follows from a table or another object that the configuration lists."""
    TASK = 4
    """A task's settings contain the name."""
    OFFSETS = 5
    """The worker stores an offset for it."""
    OBSERVED = 6
    """The worker reports the topic as used."""
    INFERRED = 7
    """A guess, because the class is unknown."""


DATA = "data"
"""The role of a topic that carries the data; other roles are, for example, heartbeat, transaction and schema-history."""


class TopicUse(NamedTuple):
    """A topic, and the evidence for it. `is_pattern`: the name is a regular expression, and only the data decides which topics match."""

    name: str
    role: str = DATA
    is_pattern: bool = False
    evidence: tuple[EvidenceKind, ...] = ()

    @property
    def is_internal(self) -> bool:
        """Whether the topic contains the connector's own records or reports instead of the pipeline's data."""
        return self.role != DATA


class ExternalDataset(NamedTuple):
    """A dataset outside of the connector's Kafka cluster. `symlinks`: its other names. `synthetic`: its data is generated."""

    dataset: DatasetName
    evidence: tuple[EvidenceKind, ...] = ()
    symlinks: tuple[DatasetName, ...] = ()
    synthetic: bool = False


class ConnectorFlow(NamedTuple):
    """The flow between an external dataset and a topic; either may be unknown.

    `before`: the topic's name before the transforms (source) or as the worker consumes it (sink), on which the chain is replayed. `maybe`:
    possibly only some records flow this way, or none.
    """

    outside: DatasetName | None
    topic: str
    before: str
    evidence: tuple[EvidenceKind, ...] = ()
    maybe: bool = False
    is_pattern: bool = False


@dataclass(frozen=True)
class ConnectorEvidence:
    """What is known about a connector apart from its configuration.

    `direction`: source or sink, as the worker reports. `known_topics`: the topics of the cluster, None if they were not listed.
    `observed_topics`: the used topics that the worker reports. `tasks`: the configuration of each task. `offsets`: the worker's
    offsets, each with `partition` and `offset`. `settings`: values of settings that only the worker can resolve, by key; `connector.id`
    is a managed connector's id, `aws.account` the account.
    """

    direction: str = ""
    known_topics: frozenset[str] | None = None
    observed_topics: tuple[str, ...] = ()
    tasks: tuple[Mapping[str, str], ...] = ()
    offsets: tuple[Mapping[str, Any], ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Connection:
    """A connector's external datasets, topics and flows, each sorted. `unknown`: texts about what could not be determined, and why."""

    connector: ConnectorClass
    chain: Chain
    datasets: tuple[ExternalDataset, ...] = ()
    topics_in: tuple[TopicUse, ...] = ()
    topics_out: tuple[TopicUse, ...] = ()
    flows: tuple[ConnectorFlow, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def is_source(self) -> bool:
        """Whether the connector writes topics. If not, it reads them."""
        return self.connector.direction == "source"


class FoundObject(NamedTuple):
    """An external object that a reader of configurations found, and its topic (for a source, before the transforms); None if unknown.

    `dataset`: the object's dataset, if its name is not built from templates. `maybe`: possibly only some records go to the object.
    """

    object: str | None
    topic: str | None
    how: EvidenceKind
    dataset: DatasetName | None = None
    maybe: bool = False


def merge_evidence(found: Sequence[EvidenceKind]) -> tuple[EvidenceKind, ...]:
    """Return the kinds of evidence in their defined order, each once."""
    return tuple(sorted(set(found)))
