"""The interface of a source that is observed in steps, each of which is stored on its own. Tasks extract from such sources."""

import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lineage_bridge.model.tasks import ExtractionOptions, PlaneRecord
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Observation, Observer, SameJob, SameNamespace, SettingsT, Snapshot, SourceKind
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

OBSERVED, PARTLY, FAILED, NOT_OBSERVED, SKIPPED, GONE = "observed", "partly", "failed", "not_observed", "skipped", "gone"
"""States of a plane after its step; see PlaneRecord."""


class Selection(NamedTuple):
    """Which part of a source to observe: the ids of environments and clusters (empty: all of them), and the planes to leave out."""

    environments: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()


EVERYTHING = Selection()


class PlaneStep(NamedTuple):
    """The result of observing one plane.

    In `observation`, the events are those of this plane; the snapshot and `unseen` cover all planes of the source so far.
    """

    plane: PlaneRecord
    observation: Observation


def ignore_plane(plane: PlaneRecord) -> None:
    """Do nothing; for callers that do not want to know the progress of planes."""
    del plane


class StepwiseObserver(Observer[SettingsT]):
    """A source that is observed in steps, each of which may be stored before the next one."""

    @abstractmethod
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
        """Poll once, plane by plane. `only` selects the part of the system to observe; planes whose keys are in `done` are left
        out. All other arguments, and the errors, are those of `observe`.

        `on_progress` is called when a plane has been fetched, in any order and from any thread. `stop` ends the poll between two
        calls; planes not fetched by then are SKIPPED.
        """

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once, and merge the results of all steps into one observation."""
        events: list[Json] = []
        aliases: list[SameJob | SameNamespace] = []
        last = Observation({})
        for step in self.steps(before, shared, now_us):
            last = step.observation
            events += last.events
            aliases += last.aliases
        return replace(last, events=tuple(events), aliases=tuple(aliases))


class CompletedSettings(NamedTuple):
    """The settings of a source, completed for one extraction, and the extraction's secrets by the names that the settings use for them."""

    settings: dict[str, Any]
    given: dict[str, str]


@dataclass(frozen=True)
class StepwiseKind(SourceKind):
    """A kind of source from which tasks can extract.

    `apply_options`: completes settings with the options of an extraction. `is_self_contained`: whether these options contain all that a
    source of this kind needs, so that no source has to be configured. `how_to_add`: instructions for users.
    """

    apply_options: Callable[[Mapping[str, Any], ExtractionOptions], CompletedSettings]
    is_self_contained: Callable[[ExtractionOptions], bool]
    how_to_add: str
