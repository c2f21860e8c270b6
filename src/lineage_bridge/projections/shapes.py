"""The classes for the graph as a list of nodes and edges. Members that the LineageBridge prototype also had are null if they have no
value.
"""

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType


class Name(Struct, frozen=True):
    """A dataset or a job, by its OpenLineage name."""

    namespace: str
    name: str


class LineageNode(Struct, frozen=True, omit_defaults=True):
    """A dataset or a job, under all its names.

    `attributes` are the members of its `confluent_...` facets, its description, its SQL. `namespace` and `name` are the OpenLineage name,
    as producers wrote it; `aliases` are the node's other names. `id` is the node's id in all other answers.
    """

    node_id: str
    system: str
    node_type: str
    qualified_name: str
    display_name: str
    environment_id: str | None
    environment_name: str | None
    cluster_id: str | None
    cluster_name: str | None
    catalog_type: str | None
    attributes: dict[str, Any]
    tags: list[str]
    url: str | None
    first_seen: str | None
    last_seen: str | None
    id: str
    kind: str
    namespace: str
    name: str
    aliases: list[Name]
    facets: dict[str, Raw] | UnsetType = UNSET


class LineageEdge(Struct, frozen=True, omit_defaults=True):
    """An edge: data moves from one node to another. An edge leads from a dataset to a job that reads it, from a job to a dataset that it
    writes, or from a dataset directly to one derived from it.

    `confidence` (0 to 1) follows from `origin` (`observed`, `declared`, `inferred`), or was stated by an import. `facets`, in an
    export, is what the job states about the columns of its outputs.
    """

    src_id: str
    dst_id: str
    edge_type: str
    confidence: float
    attributes: dict[str, Any]
    first_seen: str | None
    last_seen: str | None
    origin: str
    label: str
    facets: dict[str, Raw] | UnsetType = UNSET


class GraphStats(Struct, frozen=True):
    """The counts of the graph. `validation_warnings` is empty: no edge leads to a node that does not exist."""

    node_count: int
    edge_count: int
    pipeline_count: int
    validation_warnings: list[str]


class PushResult(Struct, frozen=True):
    """The result of a push, as numbers of what was written in the catalog.

    `tables_updated` counts events for catalogs that take events. `errors` lists what failed or was refused, `skipped` what was left
    unchanged or cannot be expressed in the catalog. `bridge_rows_inserted` is always 0, because nothing is written outside of the catalog's
    own objects. `targets` are the names of the targets that were published to, `unchanged` counts the objects that already were as they
    should be.
    """

    tables_updated: int = 0
    properties_set: int = 0
    comments_set: int = 0
    bridge_rows_inserted: int = 0
    external_metadata_registered: int = 0
    lineage_relationships_created: int = 0
    errors: list[str] = []
    skipped: list[str] = []
    targets: list[str] = []
    unchanged: int = 0
