"""Finds the facets of an event that have no effect, because the sender is limited to namespaces and the facets concern nodes outside of
them. Pure.

A sender may state the inputs, outputs and column lineage of its own jobs, whatever datasets they name. Facets about a dataset itself
(schema, description, tags, that it was dropped, ...) only count if the dataset lies within the sender's namespaces. Even then, a facet has
no effect if it joins the dataset with a name outside of these namespaces: by a symlink, an earlier name, or the name of a system. Facets
without effect are kept in the relation `foreign_assertion`.
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
    """The reasons why a facet has no effect."""

    DATASET = "foreign_dataset"
    """The assertion is about a dataset outside the sender's namespaces."""
    NAME = "foreign_name"
    """The assertion joins two names, or the names of two systems, of which one lies outside the sender's namespaces."""
    JOB = "foreign_job"
    """The assertion states lineage of a job outside the sender's namespaces."""


class ForeignFacets(NamedTuple):
    """The facets without effect of one job or dataset, in one role in an event (`side`), all for the same reason."""

    node: Job | Dataset
    side: Side
    why: WhyForeign
    facets: Facets


class LimitedEvent(NamedTuple):
    """The part of an event that has effect, and the facets that have none. `other_flows`: the part states other flows than the whole
    event.
    """

    event: Event
    foreign: tuple[ForeignFacets, ...] = ()
    other_flows: bool = False


def limit_event(event: Event, note: RecordNote, names: Names) -> LimitedEvent:
    """The part of an event that has effect, given the limits of its sender in the record's note."""
    cut = _EventSplitter(note.namespaces, names)
    own = None if event.job is None else cut.job(event.job)
    subject = None if event.dataset is None else cut.dataset(event.dataset, Side.SELF, own=note.waived)
    inputs = tuple(cut.named(dataset, Side.INPUT) for dataset in event.inputs)
    outputs = tuple(cut.named(dataset, Side.OUTPUT) for dataset in event.outputs)
    counting = msgspec.structs.replace(event, job=own, dataset=subject, inputs=inputs, outputs=outputs)
    return LimitedEvent(counting, tuple(cut.foreign), other_flows=cut.other_flows)


def may_parent(facet: standard.ParentRunFacet, limits: Limits) -> bool:
    """Whether the jobs of the parent and root runs lie within the sender's namespaces."""
    jobs = [facet.job, *([facet.root.job] if facet.root else ())]
    return not limits or all(matches(job.namespace, limits) for job in jobs)


class _EventSplitter:
    """Splits an event into the part that has effect, and the facets that have none (`foreign`). `other_flows`: the part states other
    flows than the event.
    """

    def __init__(self, limits: Limits, names: Names) -> None:
        self.limits, self.names = limits, names
        self.foreign: list[ForeignFacets] = []
        self.other_flows = False

    def job(self, job: Job) -> Job:
        """A copy of the job that only has the facets with effect."""
        reasons = {key: self._lineage(key, text) if key in _LINEAGE else None for key, text in job.facets.items()}
        return msgspec.structs.replace(job, facets=self._counting(job, Side.SELF, reasons))

    def named(self, dataset: Dataset, side: Side) -> Dataset:
        """A copy of an input or output that only has the facets with effect, under the name that `without_joining` returns."""
        namespace, name = without_joining(dataset.namespace, dataset.name, self.limits)
        self.other_flows |= namespace != dataset.namespace
        return self.dataset(msgspec.structs.replace(dataset, namespace=namespace, name=name), side)

    def dataset(self, dataset: Dataset, side: Side, *, own: bool = False) -> Dataset:
        """A copy of a dataset that only has the facets with effect. With `own`, the dataset counts as within the sender's namespaces."""
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
        """The reason why a facet of a dataset outside the sender's namespaces has no effect; None for column lineage of the job's
        own outputs.
        """
        is_work = side is Side.OUTPUT and key == "columnLineage"
        return self._lineage(key, text) if is_work else WhyForeign.DATASET

    def _own_facet(self, dataset: Dataset, side: Side, key: str, text: bytes) -> WhyForeign | None:  # noqa: ARG002 - as _foreign_facet
        """The reason why a facet of a dataset within the sender's namespaces has no effect: the facet also concerns a dataset outside. None
        if the facet has effect.
        """
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
        """The reason why a lineage facet has no effect; None if it has effect. A lineage facet may name any dataset, but no job outside,
        and no name that joins several systems.
        """
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
