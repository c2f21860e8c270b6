"""What statements are made of: their ends, and what is said besides."""

from typing import NamedTuple

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row

OWN = 0
"""Stands for the carrier of a facet (the dataset of columnLineage, the job or the dataset of lineage) where a node id is expected."""
NO_SOURCE = "-"
"""The type of a statement that its target has no upstream."""


class LineageStatement(NamedTuple):
    """One source of one target. Empty fields mean the whole dataset; `type` and `subtype` are empty when unknown."""

    target: int
    target_field: str
    source: int
    source_field: str
    type: str
    subtype: str
    masking: int


class Annotation(NamedTuple):
    """What a text says besides a statement, which does not make it another statement: empty where it says nothing.

    The runs are those of a job at either end, as they were written.
    """

    statement: LineageStatement
    description: str
    target_run: str
    source_run: str


class Endpoints:
    """The ends that one facet names, as ids; `nodes` collects them as rows of the relation node."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.nodes: set[Row] = set()

    def dataset(self, namespace: str, name: str) -> int:
        """The id of a dataset."""
        id_ = self.names.dataset(namespace, name)
        self.nodes.add((id_, int(NodeKind.DATASET), namespace, name))
        return id_

    def job(self, namespace: str | None, name: str | None) -> int:
        """The id of a job; OWN for one without a name."""
        if not namespace and not name:
            return OWN
        id_ = self.names.job(namespace or "", name or "")
        self.nodes.add((id_, int(NodeKind.JOB), namespace or "", name or ""))
        return id_
