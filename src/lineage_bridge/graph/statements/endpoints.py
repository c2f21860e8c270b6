"""Statements about lineage, their annotations, and the node ids at their ends."""

from typing import NamedTuple

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.merge_rules import Row

OWN = 0
"""In place of a node id: the carrier of the facet, which is the dataset of columnLineage, or the job or dataset of lineage."""
NO_SOURCE = "-"
"""The type of a statement that the target has no source."""


class LineageStatement(NamedTuple):
    """One source of one target. An empty field means the whole dataset; `type` and `subtype` are empty if unknown."""

    target: int
    target_field: str
    source: int
    source_field: str
    type: str
    subtype: str
    masking: int


class Annotation(NamedTuple):
    """A statement with the wording beside it, which does not make it a different statement. Absent wording is empty.

    The members about runs are the run ids that the facet states for jobs at both ends, as written.
    """

    statement: LineageStatement
    description: str
    target_run: str
    source_run: str


class Endpoints:
    """Converts the names in one facet to node ids. `nodes` collects them as rows of the relation `node`."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.nodes: set[Row] = set()

    def dataset(self, namespace: str, name: str) -> int:
        """The node id of a dataset. Its row is added to `nodes`."""
        id_ = self.names.dataset(namespace, name)
        self.nodes.add((id_, int(NodeKind.DATASET), namespace, name))
        return id_

    def job(self, namespace: str | None, name: str | None) -> int:
        """The node id of a job; OWN if both namespace and name are absent."""
        if not namespace and not name:
            return OWN
        id_ = self.names.job(namespace or "", name or "")
        self.nodes.add((id_, int(NodeKind.JOB), namespace or "", name or ""))
        return id_
