"""The interfaces of sources: their stored state, and users' operations on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lineage_bridge.model.sources import KindRecord, SourceCheck, SourceRecord, SourceState


@dataclass(frozen=True)
class OutboxMessage:
    """A message of a source: a request body to send to a path of the API. Messages are sent in the order of `number`."""

    number: int
    path: str
    body: bytes


class SourceRepository(Protocol):
    """Stores the sources, their state, their snapshots and the outbox. Safe for many processes and threads at once."""

    def added(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The kind and settings of each source that users added, by name."""

    def save(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        """Add a source, or replace its settings."""

    def remove(self, name: str) -> None:
        """Delete a source that a user added, and the state of any source of this name."""

    def states(self) -> dict[str, SourceState]:
        """The state of each source, by name."""

    def pause(self, name: str, *, paused: bool) -> None:
        """Pause or resume polling of a source."""

    def make_due(self, name: str) -> None:
        """Make a source due for polling at once."""

    def snapshot(self, name: str) -> bytes | None:
        """The snapshot of a source's latest poll, as JSON."""

    def save_poll(self, name: str, state: SourceState, snapshot: bytes | None, messages: Sequence[tuple[str, bytes]]) -> bool:
        """Store the result of a poll, all or nothing: state, snapshot (None keeps the previous one), and messages as (path, body).

        Returns False, and stores nothing, if the source was removed or polled meanwhile: `state.polls` must be one more than the stored
        number.
        """

    def pending_messages(self, limit: int) -> list[OutboxMessage]:
        """The oldest undelivered messages."""

    def count_pending(self) -> int:
        """How many messages are undelivered."""

    def remove_message(self, number: int) -> None:
        """Delete a message that was delivered."""


class SourceService(Protocol):
    """Users' operations on sources. Raises NotFoundError for an unknown source, ConfigError and RequestError for invalid requests."""

    def kinds(self) -> list[KindRecord]:
        """The kinds of sources that can be observed."""

    def records(self) -> list[SourceRecord]:
        """All sources, by name."""

    def record(self, name: str) -> SourceRecord:
        """The source with this name."""

    def pending(self) -> int:
        """How many messages of sources are not delivered to the API yet."""

    def add(self, name: str, kind: str, settings: Mapping[str, Any], *, replace: bool) -> SourceRecord:
        """Add a source."""

    def remove(self, name: str) -> None:
        """Remove a source. The events it sent stay."""

    def pause(self, name: str, *, paused: bool) -> SourceRecord:
        """Pause or resume a source."""

    def poll(self, name: str) -> SourceRecord:
        """Poll a source as soon as possible."""

    def test(self, name: str) -> list[SourceCheck]:
        """Try each step of observing a source."""
