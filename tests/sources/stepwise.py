"""A source that is looked at step by step, whose every step is written down: in the place of Confluent Cloud."""

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
from lineage_bridge.sources.confluent.order import HOW_TO_ADD, apply_order, is_self_contained
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.runtime.kinds import MODULES, SourceKinds

OUT = EventBuilder("https://lineagebridge.dev/sources/stepwise")
SPACE = "confluent://env-1/lkc-1"


@dataclass
class Plane:
    """What a plane tells: jobs, each of which reads the topic `in` and writes the topic `out-JOB`; or how it fails."""

    key: str
    jobs: tuple[str, ...] = ()
    state: str = OBSERVED
    why: str = ""
    gate: threading.Event | None = None


@dataclass
class Script:
    """The planes in order, and what was seen of each look."""

    planes: list[Plane] = field(default_factory=list)
    error: Exception | None = None
    looks: list[dict[str, Any]] = field(default_factory=list)
    reached: threading.Event = field(default_factory=threading.Event)
    """Set when a look waits at a gate."""


SCRIPT = Script()


class Stepwise(StepwiseObserver[ConfluentSettings]):
    def test(self) -> Iterator[Check]:
        yield Check("environments", works=True, message="1")

    def steps(
        self,
        before: Snapshot | None,
        around: SharedMetadata,
        now_us: int,
        *,
        only: Selection = EVERYTHING,
        done: Collection[str] = (),
        on_progress: Callable[[PlaneRecord], None] = ignore_plane,
        stop: threading.Event | None = None,
    ) -> Iterator[PlaneStep]:
        held = {plane: reveal(held.secret) for plane, held in self.settings.kafka.items()}
        cloud = reveal(self.settings.cloud.secret) if self.settings.cloud else ""
        SCRIPT.looks.append({"before": before, "only": only, "done": frozenset(done), "cloud": cloud, "kafka": held, "around": around})
        if SCRIPT.error:
            raise SCRIPT.error
        snapshot = {"planes": dict((before or {}).get("planes", {})), "told": (before or {}).get("told", 0)}
        yield PlaneStep(PlaneRecord("discovery", OBSERVED), Observation(dict(snapshot)))
        for plane in SCRIPT.planes:
            if plane.key in done or plane.key.split()[0] in only.off:
                continue
            on_progress(PlaneRecord(plane.key, OBSERVED))
            yield self._step(plane, snapshot, now_us, stop or threading.Event())

    def _step(self, plane: Plane, snapshot: dict[str, Any], now_us: int, stop: threading.Event) -> PlaneStep:
        while plane.gate and not plane.gate.wait(0.01):
            SCRIPT.reached.set()
            if stop.is_set():
                raise SourceError("stopped")
        if plane.state in (FAILED, NOT_OBSERVED):
            return PlaneStep(PlaneRecord(plane.key, plane.state, (plane.why,)), Observation(dict(snapshot), unseen=_unseen()))
        snapshot["planes"] = {**snapshot["planes"], plane.key: list(plane.jobs)}
        snapshot["told"] += len(plane.jobs)
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


KIND = StepwiseKind(ConfluentSettings, Stepwise, "a script of steps", apply_order, is_self_contained, HOW_TO_ADD)
KINDS = SourceKinds({**MODULES, "confluent": __name__})
"""All kinds, with this one in the place of Confluent Cloud."""
