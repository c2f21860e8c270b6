"""What every source of observation is: it looks at a system from outside, and tells what it saw as OpenLineage events.

A source has two halves: fetching (I/O), and translating (pure). Between them lie plain values, which tests can write down.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from lineage_bridge.model.sources import SourceCheck as Check
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.settings import SourceSettings
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

__all__ = ["Check", "Observation", "Observer", "SameJob", "SameNamespace", "Snapshot", "SourceKind", "Unseen"]

Snapshot = Mapping[str, Any]
"""What a source remembers of what it last saw, as JSON. What could not be listed this time is taken over from the snapshot before."""


class Unseen(NamedTuple):
    """What a source cannot see, and why: `what` names it the same way at each poll (`connector orders-sink: offsets`)."""

    what: str
    why: str


class SameJob(NamedTuple):
    """Two names of jobs that are one, and how that is known."""

    namespace: str
    name: str
    other_namespace: str
    other_name: str
    evidence: str


class SameNamespace(NamedTuple):
    """Two namespaces of datasets that are one, and how that is known."""

    namespace: str
    other: str
    evidence: str


@dataclass(frozen=True)
class Observation:
    """What one poll gives.

    `events` are OpenLineage events in the order in which they are to be sent. An event is told again only if it says something new, but
    for the heartbeat of what runs. `same` are names that are one, those of which the snapshot before did not know. `unseen` is all that
    cannot be seen at present.
    """

    snapshot: Snapshot
    events: tuple[Json, ...] = ()
    same: tuple[SameJob | SameNamespace, ...] = ()
    unseen: tuple[Unseen, ...] = ()


SettingsT = TypeVar("SettingsT", bound=SourceSettings)


class Observer(ABC, Generic[SettingsT]):
    """A configured source: `name` is the user's name of it.

    It is used by one thread at a time; making one does no I/O.
    """

    def __init__(self, name: str, settings: SettingsT) -> None:
        self.name, self.settings = name, settings

    @abstractmethod
    def test(self) -> Iterator[Check]:
        """Try each step that an observation takes, and go on after one that fails as far as that makes sense."""

    @abstractmethod
    def observe(self, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """Look once. `before` is the last observation's snapshot, None at first; `around` is what all sources know; `now_us` the time.

        The same answers of the system with the same arguments give the same observation. Raises SourceError when nothing can be said:
        then the snapshot stays. A part that fails is `unseen`, its part of the snapshot is taken over, and nothing of it is told as gone.
        """

    @abstractmethod
    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """What other sources may use of a snapshot. Pure."""

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        """How many changes of the system it has noticed by itself since it was made; asked often between polls, it never waits.

        `before` gives the last observation's snapshot. A source that notices nothing stays at 0, and is polled when it is due.
        """
        del before
        return 0

    @abstractmethod
    def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True)
class SourceKind:
    """A kind of source: what can be set, and what observes. `told` is one line for lists."""

    settings: type[SourceSettings]
    observer: Callable[[str, Any], Observer[Any]]
    summary: str
