"""The interface of a target: a system to which lineage is published, object by object."""

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from lineage_bridge.catalogs.pace import Quota
from lineage_bridge.catalogs.settings import TargetSettings
from lineage_bridge.errors import ForbiddenError, LineageBridgeError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.sources.common.catalog.address import catalog_address

Json = dict[str, Any]
SettingsT = TypeVar("SettingsT", bound=TargetSettings)
AnswerT = TypeVar("AnswerT")
CREATE, UPDATE, DELETE = "create", "update", "delete"
NOTHING_WRITTEN: Final[Mapping[str, int]] = MappingProxyType({})


class ObjectKey(NamedTuple):
    """A job or dataset, under its name at the target. `kind` is `job` or `dataset`."""

    kind: str
    namespace: str
    name: str


class InexpressibleError(LineageBridgeError):
    """The target cannot represent an object; the message gives the reason, by which such objects are counted."""


class ObjectForbiddenError(ForbiddenError):
    """Privileges on one object are missing. Each object has its own privileges, so calls for other objects may succeed."""


@dataclass(frozen=True)
class Expressed:
    """An event in the form that the target accepts, without its time and its run's id; `lost` counts the parts that the target cannot
    represent.
    """

    event: Json
    lost: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Operation:
    """One change at a target. `body` is the event to send, empty if the object is deleted. Repeats of the same change have the same
    `idempotency_key`. `returns`: the object's deletion was begun and may not have ended.
    """

    action: str
    key: ObjectKey
    body: bytes
    idempotency_key: str
    returns: bool = False


class Outcome(NamedTuple):
    """The outcome of an operation: whether it was done, and if not, the reason in `detail`. With `later`, another attempt may succeed;
    otherwise the target refuses it for good. `foreign`: somebody else created the object since it was read, and it was left alone.

    `written` is how many things were created or changed at the target, by kind, where an object is more than one thing there.
    """

    done: bool
    detail: str = ""
    later: bool = False
    written: Mapping[str, int] = NOTHING_WRITTEN
    foreign: bool = False


DONE = Outcome(done=True)
READ_THERE: Final = "read_there"
"""The member of an event of a job or dataset that a source has read in the catalog to which a target publishes."""


class Repeat(Protocol):
    """A function that makes a request as soon as the target may send one. If the request fails but may succeed later, it is repeated."""

    def __call__(self, request: Callable[[], AnswerT], counted_as: str = "", /) -> AnswerT:
        """Make the request, and return its answer. `counted_as` names the quota that it counts for. Raises the errors of the request."""


def _once(request: Callable[[], AnswerT], _: str = "", /) -> AnswerT:
    return request()


class Target(ABC, Generic[SettingsT]):
    """A system to which lineage is published. Thread-safe.

    `catalog`: the kind of source that reads such a system; empty if none does. `addresses` say which system it is. `deletes`, `reads`:
    whether its objects can be deleted, and read back. `batch`: how many operations one call of `write` takes, `read_batch` how many keys
    one call of `read` takes. `paces_itself`: `read` and `write` make several requests, each through `repeated`; for all other targets, each
    `read` and `write` is one call. `quotas`: the limits that the vendor documents, by what requests are counted as; the setting
    `calls_per_s` takes their place. `wait` waits the given seconds, and raises StoppedError as soon as the publication is stopped.
    `follows_own_lineage`: `arranged` also gets the jobs and datasets that were read from this catalog, marked by the member READ_THERE,
    because longer paths may lead through them. It must not publish these. `refers`: an object may only refer to what the target has; so
    `look_up` gets everything that `references` names, and then `resolve` each object, in the order of the keys.
    """

    catalog = ""
    follows_own_lineage = False
    refers = False
    deletes = False
    reads = False
    batch = 1
    read_batch = 1 << 30
    paces_itself = False
    quotas: Mapping[str, Quota] = MappingProxyType({})

    def __init__(self, name: str, settings: SettingsT) -> None:
        self.name, self.settings = name, settings
        self.repeat: Repeat = _once
        self.wait: Callable[[float], None] = time.sleep

    def repeated(self, request: Callable[[], AnswerT], counted_as: str = "") -> AnswerT:
        """Make a request when it may begin, and repeat it while it may succeed. Returns its answer, and raises its errors."""
        return self.repeat(request, counted_as)

    @property
    def addresses(self) -> frozenset[str]:
        """The addresses of the system, as sources of the kind `catalog` have them. Lineage read there is not published back."""
        return frozenset(map(catalog_address, (self.settings.address, *self.settings.read_at)))

    def arranged(self, events: Iterable[Json]) -> Iterable[Json]:
        """Convert the events of jobs and datasets to the events to publish. By default they are the same; a target that attaches lineage to
        other objects, such as tables, makes events of those objects. Pure.
        """
        return events

    @abstractmethod
    def express(self, event: Json) -> Expressed:
        """Convert a JobEvent or DatasetEvent, as `arranged` returns it, to the form that the target accepts. Pure. Raises
        InexpressibleError.
        """

    def references(self, event: Json) -> Iterable[Any]:
        """What an event from `express` needs at the target; comparable and hashable. Only if `refers`. Pure."""
        del event
        return ()

    def look_up(self, references: Sequence[Any]) -> None:
        """Ask the target for what events refer to, and keep the answers for `resolve`. Only if `refers`. Raises the errors of `read`."""
        raise NotImplementedError

    def resolve(self, event: Json) -> Expressed:
        """Convert an event from `express` to what can be published with what `look_up` has found. Only if `refers`. Raises
        InexpressibleError.
        """
        raise NotImplementedError

    @abstractmethod
    def visible(self, event: Json) -> str:
        """A digest of the part of an event that can be read back. Pure."""

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """Read which of these objects the target has, whoever created them, with a digest as in `visible`. Only if `reads`.

        Raises the errors of `write`, and ObjectForbiddenError if one of them may not be read.
        """
        raise NotImplementedError

    @abstractmethod
    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Make changes to different objects, and return an outcome for each. If it raises, all changes may be repeated.

        Raises BusyError or TimedOutError if a later attempt may succeed, UnreachableError if other calls would fail now too, and
        ForbiddenError or SourceError if all later calls would fail too.
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
