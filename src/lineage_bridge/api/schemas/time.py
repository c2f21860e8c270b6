"""The responses about changes between two times, and about drift between declared and observed lineage."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import JobRef, Text
from lineage_bridge.api.schemas.nodes import GraphEdge, GraphNode, GraphPort
from lineage_bridge.projections.shapes import Name


class DiffItem(Struct, frozen=True, omit_defaults=True):
    """The change of a node, an edge or a port. `label_before` and `evidence_before` are those before the change."""

    change: Literal["appeared", "disappeared", "changed"]
    kind: Literal["node", "edge", "port"]
    node: GraphNode | UnsetType = UNSET
    edge: GraphEdge | UnsetType = UNSET
    port: GraphPort | UnsetType = UNSET
    label_before: Text = UNSET
    evidence_before: Text = UNSET


class DiffAnswer(Struct, frozen=True, omit_defaults=True):
    """Changes of the graph from `since` until `until` (left out: until now); `nodes` are those that the changes name by id."""

    since: str
    changes: list[DiffItem]
    nodes: list[GraphNode]
    resolution: Literal["exact", "day"]
    settling: bool
    position: str
    until: Text = UNSET
    truncated: str = ""
    next: int | UnsetType = UNSET


class DriftItem(Struct, frozen=True, omit_defaults=True):
    """An input, output or flow of a job that was `declared` but not observed, or `observed` but not declared, and since when."""

    job: JobRef
    drift: Literal["declared", "observed"]
    what: Literal["input", "output", "flow"]
    node: GraphNode
    target: GraphNode | UnsetType = UNSET
    since: Text = UNSET


class DriftAnswer(Struct, frozen=True, omit_defaults=True):
    """Drift of declared jobs in the order of their names; `jobs` is how many were compared, `next` the offset of the next page."""

    drifts: list[DriftItem]
    jobs: int
    settling: bool
    position: str
    next: int | UnsetType = UNSET


class TimelineMark(Struct, frozen=True, omit_defaults=True):
    """Something that changed at a time.

    `schema`: the dataset's schema changed; `text` is the new version, `before` the previous one. `code`: the facet `text` of a job changed.
    `started`: a run of a streaming job, `failed`: a run that failed or was aborted; `text` is the run's id. `appeared`, `disappeared`:
    flows of the job, `rebalanced`: the members or tasks of the job were distributed anew; this happened after `since`, and not later than
    `at`.
    """

    at: str
    what: Literal["schema", "code", "started", "failed", "rebalanced", "appeared", "disappeared"]
    node: GraphNode
    text: str = ""
    before: str = ""
    since: Text = UNSET


class TimelineAnswer(Struct, frozen=True):
    """The changes around a node within (since, until], oldest first. `truncated`: the search ended early, and these are the newest."""

    since: str
    until: str
    marks: list[TimelineMark]
    truncated: bool
    settling: bool
    position: str


class EndRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A flow to declare as ended, or whose end to undo: its job, and its source, its target or both. `at` is when it ended; by default
    now.
    """

    job: Name
    source: "EndName | None" = None
    target: "EndName | None" = None
    at: str = ""


class EndName(Name, frozen=True):
    """An end of a flow: a dataset, or a job."""

    kind: Literal["dataset", "job"] = "dataset"


class EndAccepted(Struct, frozen=True, tag_field="status", tag="accepted"):
    """The request is durable and takes effect soon."""

    position: str
