"""What was said of a node over time: schemas, facets, life, aliases."""

from dataclasses import dataclass

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node
from lineage_bridge.openlineage.facets import SchemaField


@dataclass(frozen=True)
class SchemaVersion:
    """A stretch of time in which a dataset had a version (empty: its schema was withdrawn), with who said so.

    `first` and `last` are (UTC microseconds, event id) of the mentions that prove it. `brief`: who named it named another soon after.
    """

    version: str
    fields: tuple[SchemaField, ...]
    first: tuple[int, bytes]
    last: tuple[int, bytes]
    jobs: tuple[Node, ...]
    current: bool
    brief: bool


@dataclass(frozen=True)
class SchemaHistory:
    """The versions of a dataset, oldest first. `evidence` is whose word they rest on: `dataset` itself, `output`, `input`, or nobody's.

    `renamed_from` are names it had before. `truncated`: so much was said of it that only the newest days were read.
    """

    evidence: str
    versions: tuple[SchemaVersion, ...]
    renamed_from: tuple[Node, ...]
    truncated: bool


@dataclass(frozen=True)
class FacetEntry:
    """One content of a facet, said from one side by up to 20 jobs. `first` and `last` are (UTC microseconds, event id)."""

    facet: bytes
    side: Side
    text: str
    deleted: bool
    first: tuple[int, bytes]
    last: tuple[int, bytes]
    jobs: tuple[Node, ...]


@dataclass(frozen=True)
class FacetHistory:
    """All contents of a facet, the one said last first. `truncated`: only the newest days were read."""

    entries: tuple[FacetEntry, ...]
    truncated: bool


@dataclass(frozen=True)
class LifeEntry:
    """A change in a dataset's life, as said first (by `event`) and last. `previous` is the dataset's name before."""

    change: str
    dataset: Node
    previous: Node | None
    job: Node | None
    first: int
    last: int
    event: bytes


@dataclass(frozen=True)
class AliasFilter:
    """Which aliases to list: on one kind of evidence (or `veto`), of datasets or jobs, with this namespace or name at either end."""

    kind: str | None = None
    entity: NodeKind | None = None
    namespace: str | None = None
    name: str | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class AliasRecord:
    """Two spellings (namespace, name) of one thing, or with `whole` two namespaces, the second's name being a prefix; and why.

    `parts`: of names of so many dotted parts only, 0 for all. `at_us`: when an operator said so, UTC microseconds.
    """

    entity: int
    whole: bool
    a: tuple[str, str]
    b: tuple[str, str]
    kind: str
    evidence: str
    standing: bool
    parts: int
    by: str | None
    at_us: int | None
