"""Tasks as users meet them: work that takes a while, how far it is, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

EXTRACT = "extract"
PENDING, RUNNING, COMPLETED, FAILED = "pending", "running", "completed", "failed"
STATUSES = (PENDING, RUNNING, COMPLETED, FAILED)
SEEN = frozenset(("observed", "gone"))
"""States of a plane of which everything is known."""
ASKED = "asked"
"""The state of a plane that has answered, and is not told yet."""


class Credential(NamedTuple):
    """An API key that came with a request. It is used for that, and forgotten."""

    key: str
    secret: str

    def __repr__(self) -> str:
        return "Credential(...)"


@dataclass(frozen=True)
class ExtractOrder:
    """What is to be extracted: `source` (empty: the one there is), narrowed to ids of environments and clusters (empty: all).

    `off`: planes that are left out. `hours`: how far metrics look back. `addresses`: of registries, by environment. `credentials`: by plane
    and scope (`kafka`, `lkc-1`); the scope is empty where a plane has but one.
    """

    source: str = ""
    environments: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    hours: float | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    credentials: Mapping[tuple[str, str], Credential] = field(default_factory=dict, repr=False)

    @property
    def given(self) -> tuple[str, ...]:
        """Which credentials came with it, sorted: their planes and scopes."""
        return tuple(sorted(" ".join(filter(None, place)) for place in self.credentials))


class PlaneRecord(msgspec.Struct, frozen=True):
    """How a plane of a source fared: `key` is plane and scope, `why` what of it is unknown, and the reason.

    `state`: observed, partly, failed, not_observed (no credential), skipped, gone (its scope is no more), or asked (not told yet).
    """

    key: str
    state: str
    why: tuple[str, ...] = ()
    events: int = 0
    requests: int = 0
    took_us: int = 0


class GraphSize(msgspec.Struct, frozen=True):
    """A graph, and how large it is."""

    graph_id: str
    node_count: int
    edge_count: int


class TaskRecord(msgspec.Struct, frozen=True):
    """A task. Times are UTC microseconds, None where there is none yet. No credential is in it.

    `given` are the credentials that came with the request, by plane and scope. `steps` are told in words; `cancelled` and `interrupted`
    (its process ended) say how it failed, `error` in words.
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

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in (COMPLETED, FAILED)

    @property
    def resumable(self) -> bool:
        """Whether it can go on where it was stopped."""
        return self.status == FAILED and (self.cancelled or self.interrupted)

    @property
    def unknown(self) -> tuple[PlaneRecord, ...]:
        """The planes of which something is unknown."""
        return tuple(plane for plane in self.planes if plane.state not in SEEN)


class TaskFilter(NamedTuple):
    """Which tasks: of a kind and a status (empty: all), newest first."""

    kind: str = ""
    status: str = ""
    limit: int = 20
    offset: int = 0
