"""Responses about column traces.

`resolution` is "exact", or "day" where the last statement within the day of the requested time is not known.
"""

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import Text
from lineage_bridge.api.schemas.nodes import GraphNode, TransformationItem
from lineage_bridge.api.schemas.traces.access import AccessItem


class TraceColumn(Struct, frozen=True, omit_defaults=True):
    """A column, as the id of its dataset (or job) and its field. An empty field means the whole dataset.

    `distance` counts hops from the origin. `end` says why the trace ended here: "masked", "job", "unknown column".
    """

    node: str
    field: str
    distance: int | UnsetType = UNSET
    end: str | UnsetType = UNSET


class ProofAnswer(Struct, frozen=True):
    """The latest event that states a flow between columns. In an answer as of an earlier time, it is the latest known event until then,
    which may be the first one of that day.

    `run_id` is the id of the run, or of the design-time statement.
    """

    event_id: str
    event_time: str
    run_id: str


class TraceFlow(Struct, frozen=True, omit_defaults=True):
    """A flow from one column to another. `source`, `target` and `job` are ids of nodes. `indirect`: the source only affects which rows
    result (filter, join, sort).
    """

    source: str
    source_field: str
    target: str
    target_field: str
    job: str
    origin: str
    transformations: list[TransformationItem]
    masked: bool = False
    indirect: bool = False
    proof: ProofAnswer | UnsetType = UNSET
    descriptions: list[str] = []


class TraceGap(Struct, frozen=True):
    """A flow on the way without column lineage: the column may also have gone through it."""

    source: str
    target: str
    job: str
    origin: str
    evidence: str


class TraceCoverage(Struct, frozen=True):
    """How many flows at the traced datasets have column lineage (`told`), how many do not (`untold`), and some of the latter."""

    told: int
    untold: int
    gaps: list[TraceGap]


class KeptDataset(Struct, frozen=True, omit_defaults=True):
    """Who owns a dataset, given by its id, and how long its data is kept; members are left out where nobody states it.

    `owners` are those of the ownership facet, or else the values of the tag `owner`. `retention` is what a topic's own `retention.ms` and
    `cleanup.policy` mean (such as "7 days", "without limit", "newest of each key"), or else the value of the tag `retention`.
    """

    node: str
    owners: list[str] = []
    retention: str = ""


class HeldDataset(Struct, frozen=True, omit_defaults=True):
    """A dataset, given by its id, in which the traced values are, or were.

    `fields` are the columns that have the values unmasked; an empty text stands for a column whose name is not known. `left_out` says why
    the values are not there: "dropped" (the dataset does not exist), "masked" (they only arrive masked), "indirect" (they only affect which
    rows the dataset has). `last_written` is when a run last wrote the dataset, absent if that is not known to be before the time of the
    question.
    """

    node: str
    system: str
    fields: list[str] = []
    left_out: Text = UNSET
    last_written: Text = UNSET


class TraceSuggestion(Struct, frozen=True):
    """A column behind a gap (`node`, `field`) whose name is that of a traced column before it (`near`, `near_field`), apart from case and
    from how words are joined; `job` is the gap's. It is a guess: nobody states that values flow between them.
    """

    near: str
    near_field: str
    node: str
    field: str
    job: str


class TraceSuggestions(Struct, frozen=True):
    """At most 100 suggestions. `cut` says why there may be more: "suggestions" (there are more), "gaps" (not all gaps are listed), "time";
    empty if there are none.
    """

    items: list[TraceSuggestion]
    cut: str


class TraceAnswer(Struct, frozen=True, omit_defaults=True):
    """The columns from which a column is derived, or those that are derived from it. `kept` has the owners and the retention of each
    dataset among the nodes.

    `hidden_ended` counts flows of the traced datasets that are left out because they have ended; it is absent if there are none. `held`,
    `access` and `suggestions` are present if they were requested; `access_left_out` is how many datasets are not in `access` because
    reading it took too long.

    `digest` is the SHA-256 of the question and of what was found, by names: answers with the same digest have the same content. It covers
    `access` if that was requested, but never `held` and `suggestions`.
    """

    origin: GraphNode
    field: str
    direction: str
    depth: int
    nodes: list[GraphNode]
    columns: list[TraceColumn]
    flows: list[TraceFlow]
    kept: list[KeptDataset]
    coverage: TraceCoverage
    truncated: str
    hidden: int
    resolution: str
    settling: bool
    position: str
    digest: str
    hidden_ended: int = 0
    held: list[HeldDataset] | UnsetType = UNSET
    access: list[AccessItem] | UnsetType = UNSET
    access_left_out: int = 0
    suggestions: TraceSuggestions | UnsetType = UNSET
