"""Every error LineageBridge raises, in one tree.

LineageBridgeError
├── ConfigError             a setting is unknown, ill-typed or contradicts another
├── LogError                the event log cannot do what was asked
│   ├── LogLockedError      another process writes this log
│   ├── LogFullError        the disk (or a size limit) refused the write; nothing of it was acknowledged
│   ├── FrameError          bytes at an offset are no whole frame
│   └── OffsetError         an offset lies outside the log
├── StoreError              the graph store cannot do what was asked
│   ├── StoreMissingError   there is no store yet
│   ├── StoreVersionError   the store was written by another version of its schema
│   ├── StoreLockedError    another pipeline writes this store
│   ├── PositionError       the store's position is not the one a batch starts at
│   └── CollisionError      two names share one node id
├── NotFoundError           the graph holds no such node, run or event
├── AmbiguousError          a short name is that of several nodes
├── GoneError               a cursor points at what is no longer kept
├── RequestError            a question that cannot be asked: a bad argument, a bad cursor
├── JarError                a Java archive could not be had, or its bytes are not the pinned ones
├── UnavailableError        a part that is needed does not run, or did not answer in time
├── ServerError             a LineageBridge server refused a client's call
└── SourceError             an observed system cannot be seen, or answers what cannot be read
    ├── UnreachableError    it does not answer
    ├── ForbiddenError      it refuses who asks
    ├── MissingError        it has nothing of that name
    └── BusyError           it asks to come again later
"""

from collections.abc import Sequence


class LineageBridgeError(Exception):
    """What failed, in `str(error)`, and what the reader can do about it, in `hint` (may be empty)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigError(LineageBridgeError):
    """A setting is unknown, ill-typed or contradicts another."""


class LogError(LineageBridgeError):
    """The event log cannot do what was asked."""


class LogLockedError(LogError):
    """Another process writes this log."""


class LogFullError(LogError):
    """The disk refused the write; nothing of it was acknowledged."""


class FrameError(LogError):
    """The bytes at an offset are no whole frame."""


class OffsetError(LogError):
    """An offset lies outside the log."""


class StoreError(LineageBridgeError):
    """The graph store cannot do what was asked."""


class StoreMissingError(StoreError):
    """There is no store yet."""


class StoreVersionError(StoreError):
    """The store was written by another version of its schema."""


class StoreLockedError(StoreError):
    """Another pipeline writes this store."""


class PositionError(StoreError):
    """The store's position is not the one the batch starts at: another writer has been here."""


class CollisionError(StoreError):
    """Two names share one node id; `names` are the (kind, namespace, name) that came second."""

    def __init__(self, names: Sequence[tuple[int, str, str]]) -> None:
        super().__init__(f"{len(names)} name(s) share a node id with another name")
        self.names = tuple(names)


class NotFoundError(LineageBridgeError):
    """The graph holds no such node, run or event; `near` are names that come close."""

    def __init__(self, message: str, hint: str = "", near: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message, hint)
        self.near = tuple(near)


class AmbiguousError(LineageBridgeError):
    """A short name is that of several nodes; `near` are their names."""

    def __init__(self, message: str, hint: str = "", near: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message, hint)
        self.near = tuple(near)


class GoneError(LineageBridgeError):
    """A cursor points at what is no longer kept, or at another store."""


class RequestError(LineageBridgeError):
    """A question that cannot be asked: a bad argument, a bad cursor."""


class JarError(LineageBridgeError):
    """A Java archive could not be had, or its bytes are not the pinned ones."""


class UnavailableError(LineageBridgeError):
    """A part that is needed does not run, or did not answer in time."""


class ServerError(LineageBridgeError):
    """A LineageBridge server refused a client's call with HTTP `status`."""

    def __init__(self, message: str, status: int, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status


class SourceError(LineageBridgeError):
    """An observed system cannot be seen, or answers what cannot be read."""


class UnreachableError(SourceError):
    """An observed system does not answer."""


class ForbiddenError(SourceError):
    """An observed system refuses who asks."""


class MissingError(SourceError):
    """An observed system has nothing of that name."""


class BusyError(SourceError):
    """An observed system asks to come again later, after `wait_s` seconds if it says so. `limited`: it takes no more calls just now."""

    def __init__(self, message: str, hint: str = "", wait_s: float | None = None, *, limited: bool = False) -> None:
        super().__init__(message, hint)
        self.wait_s, self.limited = wait_s, limited
