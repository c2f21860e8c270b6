"""The responses about schema versions, facets over time, and lifecycle changes of datasets."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import DatasetRef, JobRef, Text
from lineage_bridge.api.schemas.nodes import GraphNode


class Seen(Struct, frozen=True):
    """The time at which something was stated, and the event that states it."""

    at: str
    event_id: str


class ColumnItem(Struct, frozen=True, omit_defaults=True):
    """A column, or a nested field, of a schema."""

    name: str
    type: Text = UNSET
    description: Text = UNSET
    fields: "list[ColumnItem] | UnsetType" = UNSET


class SchemaVersionItem(Struct, frozen=True, omit_defaults=True):
    """A period in which a dataset had a schema version. `version` is a hash of names and types, empty if a tombstone ended the schema.

    `brief`: its asserters stated another version within ten minutes.
    """

    version: str
    first: Seen
    last: Seen
    jobs: list[JobRef]
    current: bool = False
    brief: bool = False
    fields: list[ColumnItem] | UnsetType = UNSET


class SchemasAnswer(Struct, frozen=True):
    """The schema versions of a dataset, the newest first. `evidence` is where they were stated: `dataset`, `output`, `input`, `catalog`,
    or empty if there are none.
    """

    dataset: DatasetRef
    evidence: str
    versions: list[SchemaVersionItem]
    renamed_from: list[DatasetRef]
    truncated: bool
    settling: bool
    position: str


class FieldItem(Struct, frozen=True, omit_defaults=True):
    """A field of a schema with its type. Its path has the names from its column down."""

    path: list[str]
    type: Text = UNSET


class Retyped(Struct, frozen=True, omit_defaults=True):
    """A field whose type changed."""

    path: list[str]
    before: Text = UNSET
    after: Text = UNSET


class SchemaDiffAnswer(Struct, frozen=True):
    """How one schema version differs from another. `renamed`: the earlier names under which the dataset had one of the versions."""

    dataset: DatasetRef
    before: str
    after: str
    added: list[FieldItem]
    removed: list[FieldItem]
    changed: list[Retyped]
    renamed: list[DatasetRef]
    settling: bool
    position: str


class SchemaChangeItem(Struct, frozen=True):
    """A change of a dataset's schema. `before` and `after` are the two versions.

    `added`, `removed` and `changed` have up to 20 fields each; `/graph/schemas/diff` has all of them.
    """

    dataset: DatasetRef
    at: str
    before: str
    after: str
    added: list[FieldItem]
    removed: list[FieldItem]
    changed: list[Retyped]


class SchemaChangesAnswer(Struct, frozen=True):
    """The changes of schemas since a time, the newest first. `truncated`: there are more. `exhaustive`: all datasets were compared, not
    only those whose schema was replaced since the graph was computed.
    """

    since: str
    changes: list[SchemaChangeItem]
    truncated: bool
    exhaustive: bool
    settling: bool
    position: str


class FacetVersion(Struct, frozen=True, omit_defaults=True):
    """A version of a facet, and the side (input, output) of the event that states it."""

    hash: str
    side: Literal["input", "output", "self", "run", "input_access", "output_access", "catalog"]
    first: Seen
    last: Seen
    jobs: list[JobRef]
    deleted: bool = False
    facet: Any = UNSET


class FacetHistoryAnswer(Struct, frozen=True):
    """The versions of a facet, the latest first."""

    key: str
    history: list[FacetVersion]
    truncated: bool
    settling: bool
    position: str


class ForeignItem(Struct, frozen=True, omit_defaults=True):
    """A facet without effect: `principal`, which was limited to `namespaces` at the time, may not state it for `node`.

    `why`: the dataset lies outside the namespaces; or the facet joins names of which one lies outside; or its job lies outside.
    """

    node: GraphNode
    key: str
    side: Literal["input", "output", "self"]
    why: Literal["foreign_dataset", "foreign_name", "foreign_job"]
    principal: str
    namespaces: list[str]
    first_seen: str
    last_seen: str
    facet: Any
    job: JobRef | UnsetType = UNSET
    deleted: bool = False


class ForeignAnswer(Struct, frozen=True):
    """Facets without effect, the latest first."""

    foreign: list[ForeignItem]
    truncated: bool
    settling: bool
    position: str


class LifeEvent(Struct, frozen=True, omit_defaults=True):
    """A lifecycle change of a dataset. `previous` is its name before the change."""

    change: str
    dataset: DatasetRef
    first: Seen
    last_seen: str
    job: JobRef | UnsetType = UNSET
    previous: DatasetRef | UnsetType = UNSET


class LifeAnswer(Struct, frozen=True):
    """Lifecycle changes of a dataset, the newest first."""

    life: list[LifeEvent]
    settling: bool
    position: str
