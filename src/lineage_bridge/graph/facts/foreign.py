"""Which facets of an event have no effect, because its sender is limited to namespaces and speaks of what lies outside. Pure.

The sender's job is its own: what it reads and writes, and which columns come from which, is its own word, whatever it names. A dataset is
another matter: what is said of the dataset itself (schema, description, tags, that it was dropped, ...) counts only if it lies within.
Even then, nothing may be said of it that reaches a dataset outside: another name for it, an earlier name, the name of its system. What is
left out stays the sender's word, in the relation `foreign_assertion`.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

import msgspec

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.identity.claims import CLAIMING, read_claims
from lineage_bridge.graph.identity.limits import Limits, is_system_within, is_within, joins, matches, without_joining
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import RecordNote
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.statements.lineage_sets import named_nodes
from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.event import Dataset, Event, Facets, Job

_LINEAGE: Final = frozenset({"columnLineage", "lineage"})
_NAMING: Final = frozenset({"symlinks", "lifecycleStateChange"})


class WhyForeign(str, Enum):
    """Why a facet has no effect."""

    DATASET = "foreign_dataset"
    """The assertion is about a dataset outside the sender's namespaces."""
    NAME = "foreign_name"
    """The assertion joins two names, or the names of two systems, of which one lies outside the sender's namespaces."""
    JOB = "foreign_job"
    """The assertion states lineage of a job outside the sender's namespaces."""


class ForeignFacets(NamedTuple):
    """Facets without effect that an event gives a job or dataset on a side, all for one reason."""

    node: Job | Dataset
    side: Side
    why: WhyForeign
    facets: Facets


class LimitedEvent(NamedTuple):
    """The part of an event that counts, and the facets that have no effect. `other_flows`: the part states other flows than the event."""

    event: Event
    foreign: tuple[ForeignFacets, ...] = ()
    other_flows: bool = False


def limit_event(event: Event, note: RecordNote, names: Names) -> LimitedEvent:
    """An event as it counts from a sender with the limits in the record's note."""
    cut = _Cut(note.namespaces, names)
    own = None if event.job is None else cut.job(event.job)
    subject = None if event.dataset is None else cut.dataset(event.dataset, Side.SELF, own=note.waived)
    inputs = tuple(cut.named(dataset, Side.INPUT) for dataset in event.inputs)
    outputs = tuple(cut.named(dataset, Side.OUTPUT) for dataset in event.outputs)
    counting = msgspec.structs.replace(event, job=own, dataset=subject, inputs=inputs, outputs=outputs)
    return LimitedEvent(counting, tuple(cut.foreign), other_flows=cut.other_flows)


def may_parent(facet: standard.ParentRunFacet, limits: Limits) -> bool:
    """Whether a sender may speak for the jobs that a run is said to be inside of."""
    jobs = [facet.job, *([facet.root.job] if facet.root else ())]
    return not limits or all(matches(job.namespace, limits) for job in jobs)


class _Cut:
    """Takes an event apart; `foreign` are the facets left out so far, `other_flows` whether what is left states other flows."""

    def __init__(self, limits: Limits, names: Names) -> None:
        self.limits, self.names = limits, names
        self.foreign: list[ForeignFacets] = []
        self.other_flows = False

    def job(self, job: Job) -> Job:
        """The sender's job, with the facets that count."""
        reasons = {key: self._lineage(key, text) if key in _LINEAGE else None for key, text in job.facets.items()}
        return msgspec.structs.replace(job, facets=self._counting(job, Side.SELF, reasons))

    def named(self, dataset: Dataset, side: Side) -> Dataset:
        """An input or output, under a name that joins nothing, with the facets that count."""
        namespace, name = without_joining(dataset.namespace, dataset.name, self.limits)
        self.other_flows |= namespace != dataset.namespace
        return self.dataset(msgspec.structs.replace(dataset, namespace=namespace, name=name), side)

    def dataset(self, dataset: Dataset, side: Side, *, own: bool = False) -> Dataset:
        """A dataset with the facets that count. `own`: as if it lay within."""
        own = own or is_within(dataset.namespace, dataset.name, self.limits)
        why = self._own_facet if own else self._foreign_facet
        reasons = {key: why(dataset, side, key, text) for key, text in dataset.facets.items()}
        return msgspec.structs.replace(dataset, facets=self._counting(dataset, side, reasons))

    def _counting(self, node: Job | Dataset, side: Side, reasons: dict[str, WhyForeign | None]) -> Facets:
        for why in WhyForeign:
            if left := {key: node.facets[key] for key, reason in reasons.items() if reason is why}:
                self.foreign.append(ForeignFacets(node, side, why, left))
        return {key: node.facets[key] for key, reason in reasons.items() if reason is None}

    def _foreign_facet(self, dataset: Dataset, side: Side, key: str, text: bytes) -> WhyForeign | None:  # noqa: ARG002 - as _own_facet
        """Why a facet of a dataset outside has no effect: only what the job says of its own work, the columns that it writes, has one."""
        is_work = side is Side.OUTPUT and key == "columnLineage"
        return self._lineage(key, text) if is_work else WhyForeign.DATASET

    def _own_facet(self, dataset: Dataset, side: Side, key: str, text: bytes) -> WhyForeign | None:  # noqa: ARG002 - as _foreign_facet
        """Why a facet of a dataset within has no effect, if it has none: because it reaches a dataset outside."""
        if key in _LINEAGE:
            return self._lineage(key, text)
        if key in _NAMING and not all(is_within(namespace, name, self.limits) for _, namespace, name in self._named(key, text)):
            return WhyForeign.NAME
        if key in CLAIMING and not all(self._claims_within(dataset, key, text)):
            return WhyForeign.NAME
        return None

    def _claims_within(self, dataset: Dataset, key: str, text: bytes) -> Iterator[bool]:
        for claim in read_claims(dataset.namespace, dataset.name, key, text):
            for namespace, name in ((claim.a_namespace, claim.a_name), (claim.b_namespace, claim.b_name)):
                yield is_system_within(namespace, self.limits) if claim.whole else is_within(namespace, name, self.limits)

    def _lineage(self, key: str, text: bytes) -> WhyForeign | None:
        """Why lineage has no effect, if it has none: datasets may be anybody's, but not jobs, nor names that join systems."""
        named = list(self._named(key, text))
        why = None
        if any(kind == NodeKind.DATASET and joins(namespace, self.limits) for kind, namespace, _ in named):
            why = WhyForeign.NAME
        if any(kind == NodeKind.JOB and not matches(namespace, self.limits) for kind, namespace, _ in named):
            why = WhyForeign.JOB
        self.other_flows |= why is not None
        return why

    def _named(self, key: str, text: bytes) -> Iterator[tuple[int, str, str]]:
        return ((kind, namespace, name) for _, kind, namespace, name in named_nodes(key, text, self.names))
