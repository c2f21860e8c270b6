"""The history of a node: schemas, facets, lifecycle changes and aliases."""

from dataclasses import dataclass
from typing import NamedTuple

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node
from lineage_bridge.openlineage.facets import SchemaField


@dataclass(frozen=True)
class SchemaVersion:
    """A period in which a dataset had a schema version, with the jobs that stated it. `version` is empty if the schema was withdrawn.

    `first` and `last` are (UTC microseconds, event id) of the first and last statement. `brief`: each job that stated this version stated
    another one within ten minutes.
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
    """The schema versions of a dataset, oldest first. `evidence` is who stated them: `dataset`, `output`, `input`, or empty (nobody).

    `renamed_from` are the dataset's earlier names. `truncated`: there are so many statements that only the newest days were read.
    """

    evidence: str
    versions: tuple[SchemaVersion, ...]
    renamed_from: tuple[Node, ...]
    truncated: bool


class FacetPage(NamedTuple):
    """Which page of the versions of a facet to list."""

    limit: int
    offset: int
    max_bytes: int | None


@dataclass(frozen=True)
class FacetEntry:
    """One version of a facet. `side` says in which role of the node the facet was stated (as an input, an output, or for the node itself);
    `jobs` are up to 20 jobs that stated it. `first` and `last` are (UTC microseconds, event id).

    `text` is empty unless texts were requested.
    """

    facet: bytes
    side: Side
    text: str
    deleted: bool
    first: tuple[int, bytes]
    last: tuple[int, bytes]
    jobs: tuple[Node, ...]


@dataclass(frozen=True)
class FacetHistory:
    """Versions of a facet, the most recently stated first. `truncated`: only the newest days were read. `more`: there are further
    versions.
    """

    entries: tuple[FacetEntry, ...]
    truncated: bool
    more: bool = False


@dataclass(frozen=True)
class LifeEntry:
    """A lifecycle change of a dataset, with the first (by `event`) and the last time at which it was stated. `previous`: the dataset's name
    before the change.
    """

    change: str
    dataset: Node
    previous: Node | None
    job: Node | None
    first: int
    last: int
    event: bytes


@dataclass(frozen=True)
class AliasFilter:
    """Which aliases to list: those with this `kind` of evidence (or vetoes: `veto`), of datasets or of jobs, with this namespace or name at
    either end.
    """

    kind: str | None = None
    entity: NodeKind | None = None
    namespace: str | None = None
    name: str | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class LinkAsserter:
    """An asserter of a symlink: a job, in its runs or at design time (`declared`), or a dataset that declares it for itself.

    `last_us` is when it was last stated, UTC microseconds.
    """

    node: Node
    declared: bool
    last_us: int


@dataclass(frozen=True)
class AliasRecord:
    """An alias: two names (namespace, name) of one dataset or job. With `whole`, it joins two namespaces, and the name in `b` is a prefix
    of names.

    `kind` and `evidence` are the reason for the alias. `standing`: it is neither vetoed nor contradicted. `parts`: the alias applies only
    to names of this many dotted parts, 0 for all names. `by` and `at_us`: the operator who stated it, and when, in UTC microseconds. For a
    symlink, `asserters` is how many asserters state it; `asserted_by` has those that stated it last, the latest first.
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
    asserters: int = 0
    asserted_by: tuple[LinkAsserter, ...] = ()


class ForeignFilter(NamedTuple):
    """Which foreign assertions to list: those about a dataset or job, of events of a job, of a principal. A member that is None matches
    everything.
    """

    node: Node | None = None
    job: Node | None = None
    principal: str | None = None


@dataclass(frozen=True)
class ForeignStatement:
    """A facet without effect: its sender was limited to `namespaces` at the time, and may not state the facet about `node`. See
    graph/facts/foreign.py for `why`.

    `job` is the job of the event; None for a DatasetEvent. Times are UTC microseconds.
    """

    principal: str
    namespaces: tuple[str, ...]
    job: Node | None
    node: Node
    side: Side
    why: str
    key: str
    facet: bytes
    text: str
    deleted: bool
    first: int
    last: int


@dataclass(frozen=True)
class ForeignPage:
    """Foreign assertions, the most recent first. `truncated`: only the newest were read. `more`: there are further assertions."""

    statements: tuple[ForeignStatement, ...]
    truncated: bool
    more: bool
