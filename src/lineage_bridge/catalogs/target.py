"""What a target is: a place where lineage is published, object by object."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from lineage_bridge.catalogs.settings import TargetSettings
from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.model.sources import SourceCheck

Json = dict[str, Any]
SettingsT = TypeVar("SettingsT", bound=TargetSettings)
CREATE, UPDATE, DELETE = "create", "update", "delete"
NOTHING_WRITTEN: Final[Mapping[str, int]] = MappingProxyType({})


class ObjectKey(NamedTuple):
    """A job or dataset, under its name there. `kind` is `job` or `dataset`."""

    kind: str
    namespace: str
    name: str


class InexpressibleError(LineageBridgeError):
    """The target cannot hold an object; the message says what of it, for a count."""


@dataclass(frozen=True)
class Expressed:
    """An event in the form that the target takes, without its time and its run's id; `lost` counts what it cannot hold."""

    event: Json
    lost: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Operation:
    """One change. `body` is the event to send, empty if the object is deleted. The same change has the same `idempotency_key`."""

    action: str
    key: ObjectKey
    body: bytes
    idempotency_key: str


class Outcome(NamedTuple):
    """Whether an operation was done; if not, `detail` says why: the target refuses it for good, unless it may work `later`.

    `written` is how many things were created or changed there for it, by what they are, where an object is more than one thing there.
    """

    done: bool
    detail: str = ""
    later: bool = False
    written: Mapping[str, int] = NOTHING_WRITTEN


DONE = Outcome(done=True)


def _at_once() -> None:
    """A call may begin."""


class Target(ABC, Generic[SettingsT]):
    """A place that lineage is published to. Thread-safe.

    `deletes`, `reads`: whether objects there can be deleted, and read back. `batch`: how many operations `write` takes at once,
    `read_batch` how many keys `read` does. `paces_itself`: `read` and `write` make several calls each, and call `take_turn` before each
    one, which returns when it may begin; for others, each `read` and `write` is one call.
    """

    deletes = False
    reads = False
    batch = 1
    read_batch = 1 << 30
    paces_itself = False

    def __init__(self, name: str, settings: SettingsT) -> None:
        self.name, self.settings = name, settings
        self.take_turn: Callable[[], None] = _at_once

    def arranged(self, events: Iterable[Json]) -> Iterable[Json]:
        """The events to express, of those of jobs and datasets: these themselves, unless lineage belongs to something else. Pure."""
        return events

    @abstractmethod
    def express(self, event: Json) -> Expressed:
        """A JobEvent or DatasetEvent, as `arranged` has it, in the form that the target takes. Pure. Raises InexpressibleError."""

    @abstractmethod
    def visible(self, event: Json) -> str:
        """A digest of what can be read back of an event there. Pure."""

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """Which of these objects are there, whoever put them there, with a digest as `visible` has it. Only if `reads`.

        Raises as `write`.
        """
        raise NotImplementedError

    @abstractmethod
    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Make changes, of different objects; return an outcome for each. All may be repeated if it raises.

        Raises BusyError, TimedOutError if it may work later, UnreachableError if no other would work now either, and ForbiddenError,
        SourceError if no other ever would.
        """

    @abstractmethod
    def test(self) -> list[SourceCheck]:
        """Try each step of publishing, without changing anything; return a check for each, including failed ones."""

    def close(self) -> None:  # most have nothing to close
        """Close connections. Does not raise."""


@dataclass(frozen=True)
class TargetKind:
    """A kind of target: its settings, how to create it, and one line that describes it in lists.

    `make` gets the target's name, its settings, and the folder below which targets may write files.
    """

    settings: type[TargetSettings]
    make: Callable[[str, Any, Path], Target[Any]]
    summary: str
