"""Tasks as users see them: long-running work, its progress and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

EXTRACT, ENRICH = "extract", "enrich"
"""The kinds of tasks: read an organization of Confluent Cloud; read a catalog."""
PENDING, RUNNING, COMPLETED, FAILED = "pending", "running", "completed", "failed"
STATUSES = (PENDING, RUNNING, COMPLETED, FAILED)
SEEN = frozenset(("observed", "gone"))
"""The states of a plane about which nothing is unknown."""
ASKED = "asked"
"""The state of a plane that has answered and whose events have not been sent yet."""


class Credential(NamedTuple):
    """An API key sent with a request. It is used for that request only and not stored."""

    key: str
    secret: str

    def __repr__(self) -> str:
        return "Credential(...)"


@dataclass(frozen=True)
class ExtractionOptions:
    """What to extract: a `source` (empty: the only one), restricted to environments and clusters by id (empty: all).

    `off`: planes to leave out. `hours`: for how many past hours metrics are read. `addresses`: the addresses of schema registries, by
    environment. `credentials`: by plane and scope (`kafka`, `lkc-1`); the scope is empty if there is only one. `enrich`: also read the
    catalogs, in separate tasks; catalogs that cost money to read are only read with `enrich_at_cost`.
    """

    source: str = ""
    environments: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    hours: float | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    credentials: Mapping[tuple[str, str], Credential] = field(default_factory=dict, repr=False)
    enrich: bool = False
    enrich_at_cost: bool = False

    @property
    def given(self) -> tuple[str, ...]:
        """The planes and scopes for which the request contained credentials, sorted."""
        return tuple(sorted(" ".join(filter(None, words)) for words in self.credentials))


class PlaneRecord(msgspec.Struct, frozen=True):
    """The outcome of one plane: `key` is plane and scope, `why` lists what is unknown, with the reasons, `hints` what to do about it.

    `state`: observed, partly, failed, not_observed (no credential), skipped, gone (its scope no longer exists), or asked (answered, but its
    events have not been sent yet).
    """

    key: str
    state: str
    why: tuple[str, ...] = ()
    events: int = 0
    requests: int = 0
    took_us: int = 0
    hints: tuple[str, ...] = ()


class GraphSize(msgspec.Struct, frozen=True):
    """The size of a graph, as its numbers of nodes and edges."""

    graph_id: str
    node_count: int
    edge_count: int


class TaskRecord(msgspec.Struct, frozen=True):
    """A task. Times are UTC microseconds, None if there is none yet. It contains no credentials.

    `given` lists the planes and scopes for which the request had credentials. `steps` describe the progress in words. A failed task has
    `error`. A task that was `cancelled` or `interrupted` (its process ended) also counts as failed. `enrichments` are the ids of the tasks
    that read catalogs beside this one.
    """

    id: str
    kind: str
    source: str
    status: str
    created_us: int
    started_us: int | None = None
    ended_us: int | None = None
    environments: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    hours: float | None = None
    addresses: dict[str, str] = {}
    given: tuple[str, ...] = ()
    planes: tuple[PlaneRecord, ...] = ()
    steps: tuple[str, ...] = ()
    result: GraphSize | None = None
    error: str | None = None
    hint: str = ""
    cancelled: bool = False
    interrupted: bool = False
    enrichments: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether the task is completed or failed."""
        return self.status in (COMPLETED, FAILED)

    @property
    def resumable(self) -> bool:
        """Whether the task can continue from where it stopped."""
        return self.status == FAILED and (self.cancelled or self.interrupted)

    @property
    def unknown(self) -> tuple[PlaneRecord, ...]:
        """The planes that could not be read completely."""
        return tuple(plane for plane in self.planes if plane.state not in SEEN)


class TaskFilter(NamedTuple):
    """Which tasks to list, newest first. An empty kind or status matches all."""

    kind: str = ""
    status: str = ""
    limit: int = 20
    offset: int = 0
