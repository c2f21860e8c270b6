"""A source that is observed step by step, whose steps are written down by a test. It takes the place of Confluent Cloud."""

import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from lineage_bridge.errors import SourceError
from lineage_bridge.model.tasks import PlaneRecord
from lineage_bridge.openlineage.event_builder import EventBuilder
from lineage_bridge.sources.common.observer import Check, Observation, Snapshot, Unseen
from lineage_bridge.sources.common.settings import reveal
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.common.stepwise import (
    EVERYTHING,
    FAILED,
    NOT_OBSERVED,
    OBSERVED,
    PARTLY,
    PlaneStep,
    Selection,
    StepwiseKind,
    StepwiseObserver,
    ignore_plane,
)
from lineage_bridge.sources.confluent.extraction_options import HOW_TO_ADD, apply_options, is_self_contained
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.runtime.kinds import MODULES, SourceKinds

OUT = EventBuilder("https://lineagebridge.dev/sources/stepwise")
SPACE = "confluent://env-1/lkc-1"


@dataclass
class Plane:
    """What a plane reports: jobs, each of which reads topic `in` and writes topic `out-JOB`; or how it fails. It waits for `hold`."""

    key: str
    jobs: tuple[str, ...] = ()
    state: str = OBSERVED
    why: str = ""
    hold: threading.Event | None = None


@dataclass
class Script:
    """The planes in order, and what each poll was given."""

    planes: list[Plane] = field(default_factory=list)
    error: Exception | None = None
    polls: list[dict[str, Any]] = field(default_factory=list)
    is_waiting: threading.Event = field(default_factory=threading.Event)
    """Set when a plane waits for its `hold`."""


SCRIPT = Script()


class Stepwise(StepwiseObserver[ConfluentSettings]):
    def test(self) -> Iterator[Check]:
        yield Check("environments", works=True, message="1")

    def steps(
        self,
        before: Snapshot | None,
        shared: SharedMetadata,
        now_us: int,
        *,
        only: Selection = EVERYTHING,
        done: Collection[str] = (),
        on_progress: Callable[[PlaneRecord], None] = ignore_plane,
        stop: threading.Event | None = None,
    ) -> Iterator[PlaneStep]:
        held = {plane: reveal(held.secret) for plane, held in self.settings.kafka.items()}
        cloud = reveal(self.settings.cloud.secret) if self.settings.cloud else ""
        SCRIPT.polls.append({"before": before, "only": only, "done": frozenset(done), "cloud": cloud, "kafka": held, "shared": shared})
        if SCRIPT.error:
            raise SCRIPT.error
        snapshot = {"planes": dict((before or {}).get("planes", {})), "emitted": (before or {}).get("emitted", 0)}
        yield PlaneStep(PlaneRecord("discovery", OBSERVED), Observation(dict(snapshot)))
        for plane in SCRIPT.planes:
            if plane.key in done or plane.key.split()[0] in only.off:
                continue
            on_progress(PlaneRecord(plane.key, OBSERVED))
            yield self._step(plane, snapshot, now_us, stop or threading.Event())

    def _step(self, plane: Plane, snapshot: dict[str, Any], now_us: int, stop: threading.Event) -> PlaneStep:
        while plane.hold and not plane.hold.wait(0.01):
            SCRIPT.is_waiting.set()
            if stop.is_set():
                raise SourceError("stopped")
        if plane.state in (FAILED, NOT_OBSERVED):
            return PlaneStep(PlaneRecord(plane.key, plane.state, (plane.why,)), Observation(dict(snapshot), unseen=_unseen()))
        snapshot["planes"] = {**snapshot["planes"], plane.key: list(plane.jobs)}
        snapshot["emitted"] += len(plane.jobs)
        events = tuple(
            OUT.run_event(
                "RUNNING",
                now_us,
                str(uuid5(NAMESPACE_URL, job)),
                (SPACE, job),
                inputs=[{"namespace": SPACE, "name": "in"}],
                outputs=[{"namespace": SPACE, "name": f"out-{job}"}],
            )
            for job in plane.jobs
        )
        why = (plane.why,) if plane.state == PARTLY else ()
        return PlaneStep(
            PlaneRecord(plane.key, plane.state, why, len(events), 2, 1000), Observation(dict(snapshot), events, unseen=_unseen())
        )

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        del snapshot
        return NO_METADATA

    def close(self) -> None:
        pass


def _unseen() -> tuple[Unseen, ...]:
    return tuple(Unseen(plane.key, plane.why) for plane in SCRIPT.planes if plane.why)


KIND = StepwiseKind(ConfluentSettings, Stepwise, "a script of steps", apply_options, is_self_contained, HOW_TO_ADD)
KINDS = SourceKinds({**MODULES, "confluent": __name__})
"""All kinds, with this one in place of Confluent Cloud."""
