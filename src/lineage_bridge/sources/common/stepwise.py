"""The interface of a source that is observed step by step, each step kept by itself: tasks extract from such sources."""

import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lineage_bridge.model.tasks import ExtractOrder, PlaneRecord
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Observation, Observer, SameJob, SameNamespace, SettingsT, Snapshot, SourceKind
from lineage_bridge.sources.common.shared_metadata import SharedMetadata

OBSERVED, PARTLY, FAILED, NOT_OBSERVED, SKIPPED, GONE = "observed", "partly", "failed", "not_observed", "skipped", "gone"
"""States of a plane after its step; see PlaneRecord."""


class Selection(NamedTuple):
    """The part of a source to observe: ids of environments and clusters (empty: all), and planes to leave out."""

    environments: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()


EVERYTHING = Selection()


class PlaneStep(NamedTuple):
    """One plane, and how it fared.

    In `observation`, the events are this plane's; the snapshot and what is unseen are those of the whole source so far.
    """

    plane: PlaneRecord
    observation: Observation


def ignore_plane(plane: PlaneRecord) -> None:
    """Take no notice of a plane's progress."""
    del plane


class StepwiseObserver(Observer[SettingsT]):
    """A source whose observation consists of steps, each of which may be kept before the next."""

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
        """Poll once, plane by plane, narrowed to `only` and without the planes whose keys are `done`. For the rest, see `observe`.

        `on_progress` is called in any order and from any thread when a plane has been fetched. `stop` ends the poll soon, between two
        calls; what was not fetched by then is SKIPPED.
        """

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """All steps as one observation; see Observer."""
        events: list[Json] = []
        aliases: list[SameJob | SameNamespace] = []
        last = Observation({})
        for step in self.steps(before, shared, now_us):
            last = step.observation
            events += last.events
            aliases += last.aliases
        return replace(last, events=tuple(events), aliases=tuple(aliases))


class OrderedSettings(NamedTuple):
    """The settings of a source for one order, and the secrets that came with it, by the names under which the settings refer to them."""

    settings: dict[str, Any]
    given: dict[str, str]


@dataclass(frozen=True)
class StepwiseKind(SourceKind):
    """A kind of source that tasks extract.

    `apply_order` completes settings by what an order brings. `is_self_contained`: whether an order has all that a source of this kind
    needs, so that none has to be configured. `how_to_add`: how to configure one, for users.
    """

    apply_order: Callable[[Mapping[str, Any], ExtractOrder], OrderedSettings]
    is_self_contained: Callable[[ExtractOrder], bool]
    how_to_add: str
