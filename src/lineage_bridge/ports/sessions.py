"""The interface of the store of browser sessions."""

from collections.abc import Collection, Mapping
from typing import Protocol

from lineage_bridge.model.access import BrowserSession


class SessionRepository(Protocol):
    """Stores sessions. Safe for many threads at once."""

    def records(self) -> list[BrowserSession]:
        """All sessions, the oldest first."""

    def replace(self, ended: Collection[bytes], session: BrowserSession | None = None) -> None:
        """In one transaction, delete the sessions with these digests, and store a new session if one is given."""

    def note_uses(self, uses: Mapping[bytes, int]) -> None:
        """Store when sessions were last used, by digest."""
