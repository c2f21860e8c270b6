"""A source whose every observation is written down, to test what is done with observations."""

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
"""Address to what happens at each poll, the last one for ever: an error, or (events, same, unseen)."""
SEEN: dict[str, list[tuple[Any, SharedMetadata]]] = {}
"""Address to what each poll was given."""
NOTICED: dict[str, int] = {}
"""Address to how many changes the source has noticed by itself."""
CLOSED: list[str] = []
"""Addresses of observers that were closed."""


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

    def observe(self, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        script, seen = SCRIPTS[self.settings.system], SEEN.setdefault(self.settings.system, [])
        seen.append((before, around))
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
