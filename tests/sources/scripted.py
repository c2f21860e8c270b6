"""A source whose observations are written down by a test."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import Field

from lineage_bridge.errors import UnreachableError
from lineage_bridge.openlineage.event_builder import EventBuilder
from lineage_bridge.sources.common.observer import Check, Observation, Observer, SameJob, SameNamespace, Snapshot, SourceKind, Unseen
from lineage_bridge.sources.common.settings import Secret, SourceSettings
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.runtime.kinds import MODULES, SourceKinds

OUT = EventBuilder("https://lineagebridge.dev/sources/scripted")
SCRIPTS: dict[str, list[Any]] = {}
"""System to what each poll does, the last one repeated: an error, or (jobs, aliases, unseen)."""
SEEN: dict[str, list[tuple[Any, SharedMetadata]]] = {}
"""System to what each poll was given: the snapshot and the shared metadata."""
NOTICED: dict[str, int] = {}
"""System to the number of changes that the source has noticed."""
CLOSED: list[str] = []
"""Systems whose observers were closed."""


class Settings(SourceSettings):
    system: str = Field(description="name of the script")
    password: Secret | None = Field(default=None, description="a secret")

    @property
    def address(self) -> str:
        return self.system


class Scripted(Observer[Settings]):
    def test(self) -> Iterator[Check]:
        yield Check("reach", works=True, message="it answers")
        if self.settings.password:
            raise UnreachableError("no way in", "mind the step")

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        script, seen = SCRIPTS[self.settings.system], SEEN.setdefault(self.settings.system, [])
        seen.append((before, shared))
        step = script[min(len(seen), len(script)) - 1]
        if isinstance(step, Exception):
            raise step
        jobs, same, unseen = step
        events = tuple(OUT.run_event("RUNNING", now_us, f"00000000-0000-4000-8000-{len(seen):012}", ("s", job)) for job in jobs)
        return Observation({"poll": len(seen)}, events, tuple(same), tuple(unseen))

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        return SharedMetadata((ClusterMetadata(str(snapshot["poll"]), f"kafka://{self.settings.system}:9092"),))

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        noticed = NOTICED.get(self.settings.system, 0)
        assert before() is not None
        return noticed

    def close(self) -> None:
        CLOSED.append(self.settings.system)


KIND = SourceKind(Settings, Scripted, "a script")
KINDS = SourceKinds({**MODULES, "scripted": __name__})
"""All kinds, and this one."""
__all__ = ["CLOSED", "KIND", "KINDS", "NOTICED", "SCRIPTS", "SEEN", "SameJob", "SameNamespace", "Unseen"]
