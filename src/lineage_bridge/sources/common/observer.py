"""The interface of a source, which observes one system from outside and reports it as OpenLineage events.

A source has two halves: fetching, which calls the system, and translating, which is pure. Only plain values pass between the two, so that
tests can build them.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from lineage_bridge.errors import StoppedError
from lineage_bridge.model.sources import SourceCheck as Check
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.settings import SourceSettings
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

__all__ = ["Check", "Observation", "Observer", "SameJob", "SameNamespace", "Snapshot", "SourceKind", "Unseen"]

Snapshot = Mapping[str, Any]
"""A source's state between polls, as JSON. Anything that could not be listed this time is copied from the previous snapshot.

Members called `told` and `said` hold digests of what was last emitted about an object; in the planes of the audit log and of the metrics,
`said` has the digests of each object. The names are stored, and every version reads the snapshots of earlier ones, so they stay as they
are.
"""


class Unseen(NamedTuple):
    """Something that a source could not observe, the reason, and what to do about it.

    `what` names it, by the same text at every poll (such as `connector orders-sink: offsets`).
    """

    what: str
    why: str
    hint: str = ""


class SameJob(NamedTuple):
    """Two names of the same job, and the evidence that both denote it."""

    namespace: str
    name: str
    other_namespace: str
    other_name: str
    evidence: str


class SameNamespace(NamedTuple):
    """Two names of the same dataset namespace, and the evidence that both denote it."""

    namespace: str
    other: str
    evidence: str


@dataclass(frozen=True)
class Observation:
    """The result of a poll.

    `events` are OpenLineage events in the order in which they must be sent. Except for heartbeats of running jobs, every event contains
    something new. `aliases` are pairs of names for the same thing that earlier polls have not reported. `unseen` is everything that
    currently cannot be observed.
    """

    snapshot: Snapshot
    events: tuple[Json, ...] = ()
    aliases: tuple[SameJob | SameNamespace, ...] = ()
    unseen: tuple[Unseen, ...] = ()


SettingsT = TypeVar("SettingsT", bound=SourceSettings)


class Observer(ABC, Generic[SettingsT]):
    """Observes one system with the settings of one source; `name` is the source's name.

    One thread uses it at a time. Creating one does no input or output. If `stop` is not None, another thread may set it to end a long poll:
    the poll then raises StoppedError, or returns what it has read so far.
    """

    stop: threading.Event | None = None

    def __init__(self, name: str, settings: SettingsT) -> None:
        self.name, self.settings = name, settings

    @abstractmethod
    def test(self) -> Iterator[Check]:
        """Try each step of a poll, and report how it went. After a failed step, the others are still tried where that is useful."""

    @abstractmethod
    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once. `before` is the snapshot of the previous poll, None at the first; `shared` is the metadata of all sources.

        Equal answers of the system and equal arguments give an equal observation. Raises SourceError if nothing could be observed; the
        previous snapshot then stays valid. If only one part fails, `unseen` lists it, the snapshot keeps what it had about it, and nothing
        in it is reported as deleted.
        """

    @abstractmethod
    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the metadata in a snapshot that other sources use. Pure."""

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        """Return how many changes in the system have been noticed since this observer was created. Called often between polls;
        never blocks.

        `before` returns the snapshot of the previous poll. A source that does not watch its system always returns 0, and is polled
        at its usual times.
        """
        del before
        return 0

    def check_stop(self) -> None:
        """Raise StoppedError if the poll should stop."""
        if self.stop is not None and self.stop.is_set():
            raise StoppedError("stopped")

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""


@dataclass(frozen=True)
class SourceKind:
    """A kind of source, such as Kafka Connect: its settings, how to create its observer, and one line that describes it in lists."""

    settings: type[SourceSettings]
    observer: Callable[[str, Any], Observer[Any]]
    summary: str
