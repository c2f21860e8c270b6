"""Every error that LineageBridge raises, in one tree. A message is lower case and one sentence: what failed, with the offending value.

LineageBridgeError
├── ConfigError             a setting is unknown, ill-typed or contradicts another
├── LogError                the event log cannot do what was asked
│   ├── LogLockedError      another process writes this log
│   ├── LogFullError        the disk (or a size limit) refused the write; nothing of it was acknowledged
│   ├── RecordError         bytes are not one complete record, or a record exceeds a limit
│   └── OffsetError         an offset lies outside the log
├── JarError                a Java archive cannot be fetched, or its bytes are not the pinned ones
├── StoreError              the graph store cannot do what was asked
│   ├── StoreMissingError   the store does not exist yet
│   ├── StoreVersionError   the store has another version of the schema
│   ├── StoreDamagedError   the store's file is damaged
│   ├── StoreLockedError    another pipeline writes this store
│   ├── StoreUnreachableError  the database of the store does not answer, or the connection to it broke
│   ├── PositionError       the store's position is not the one at which a batch starts
│   └── CollisionError      two names have the same node id
├── NotFoundError           the graph has no such node, run or event
├── AmbiguousError          a short name matches several nodes
├── GoneError               a cursor or position points at data that is no longer kept
├── RequestError            a question cannot be answered as asked: a bad argument, a bad cursor
├── RefusedError            the API refuses an HTTP request before anything is done
├── UnavailableError        a required part is not running, or did not answer in time
│   └── OverloadedError     too many requests of one kind are being served at once
├── AbandonedError          the client of a question has disconnected
├── ServerError             a LineageBridge server answered a client's call with an error
└── SourceError             an observed system cannot be reached, or its answer cannot be read
    ├── UnreachableError    it does not answer
    │   └── TimedOutError   it accepted a call, but did not answer it in time
    ├── ForbiddenError      it denies access
    │   └── UnauthenticatedError  it does not accept the credentials
    ├── MissingError        it has nothing of that name
    ├── BusyError           it asks the caller to retry later
    └── StoppedError        the caller no longer waits for the answer

Exceptions that a package raises and catches itself (a token that cannot be read, an event that is rejected) stay in their modules.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType


class LineageBridgeError(Exception):
    """The base class of all errors. `str(error)` says what failed, `hint` what the reader can do about it (may be empty).

    `fields` are the wrong members of a request or of settings: for the path of each, the reason.
    """

    def __init__(self, message: str, hint: str = "", fields: Mapping[str, str] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.hint, self.fields = hint, fields


class ConfigError(LineageBridgeError):
    """A setting is unknown, has the wrong type or contradicts another."""


class LogError(LineageBridgeError):
    """The event log cannot do what was requested."""


class LogLockedError(LogError):
    """Another process writes this log."""


class LogFullError(LogError):
    """The disk (or a size limit) refused the write; nothing of it was acknowledged."""


class RecordError(LogError):
    """Bytes are not one complete record of the log, or a record exceeds a limit."""


class OffsetError(LogError):
    """An offset lies outside the log."""


class JarError(LineageBridgeError):
    """A Java archive cannot be fetched, or its content differs from the one that is expected."""


class StoreError(LineageBridgeError):
    """The graph store cannot do what was requested."""


class StoreMissingError(StoreError):
    """The store does not exist yet."""


class StoreVersionError(StoreError):
    """The store has another version of the schema."""


class StoreDamagedError(StoreError):
    """The store's file is damaged."""


class StoreLockedError(StoreError):
    """Another pipeline writes this store."""


class StoreUnreachableError(StoreError):
    """The database of the store does not answer, or the connection to it broke; a later call may succeed."""


class PositionError(StoreError):
    """The store's position is not the one at which the batch starts: another process has written to it."""


class CollisionError(StoreError):
    """Two names have the same node id. `names` has, as (kind, namespace, name), those that came second."""

    def __init__(self, names: Sequence[tuple[int, str, str]]) -> None:
        super().__init__(f"{len(names)} name(s) of datasets or jobs hash to the node id of another name")
        self.names = tuple(names)


class NotFoundError(LineageBridgeError):
    """The graph has no such node, run or event; `near` are similar names."""

    def __init__(self, message: str, hint: str = "", near: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message, hint)
        self.near = tuple(near)


class AmbiguousError(LineageBridgeError):
    """A short name matches several nodes; `near` are their full names."""

    def __init__(self, message: str, hint: str = "", near: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message, hint)
        self.near = tuple(near)


class GoneError(LineageBridgeError):
    """A cursor or position points at data that is no longer kept, or into another store."""


class RequestError(LineageBridgeError):
    """A question cannot be answered as asked: a bad argument, a bad cursor."""


class RefusedError(LineageBridgeError):
    """The API refuses an HTTP request before anything is done. The answer has the HTTP status `status` and the error code `code`.

    `challenge` is the header WWW-Authenticate: how the client can authenticate, or what its credentials lack.
    """

    def __init__(self, status: int, code: str, message: str, hint: str = "", challenge: str = "") -> None:
        super().__init__(message, hint)
        self.status, self.code, self.challenge = status, code, challenge


class UnavailableError(LineageBridgeError):
    """A required part is not running, or did not answer in time."""


class OverloadedError(UnavailableError):
    """Too many requests of one kind are being served at once, or a caller has reached a limit; `code` says which limit.

    Clients can try again after `retry_after_s` seconds.
    """

    def __init__(self, message: str, hint: str = "", code: str = "overloaded", retry_after_s: int = 5) -> None:
        super().__init__(message, hint)
        self.code, self.retry_after_s = code, retry_after_s


class AbandonedError(LineageBridgeError):
    """The client of a question has disconnected."""


class ServerError(LineageBridgeError):
    """A LineageBridge server answered a client's call with the HTTP error `status`."""

    def __init__(self, message: str, status: int, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status


class SourceError(LineageBridgeError):
    """An observed system cannot be reached, or its answer cannot be read.

    `was_repeated`: the request has already been repeated as often as is allowed.
    """

    was_repeated = False


class UnreachableError(SourceError):
    """An observed system does not answer."""


class TimedOutError(UnreachableError):
    """An observed system accepted a call, but did not answer it in time; it may answer other calls."""


class ForbiddenError(SourceError):
    """An observed system denies access."""


class UnauthenticatedError(ForbiddenError):
    """An observed system does not accept the credentials."""


class MissingError(SourceError):
    """An observed system has nothing of that name. `code`: the system's own word for that, empty if its answer has none."""

    def __init__(self, message: str, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint)
        self.code = code


class BusyError(SourceError):
    """An observed system asks the caller to retry later, after `wait_s` seconds if it says so. `limited`: its rate limit is reached."""

    def __init__(self, message: str, hint: str = "", wait_s: float | None = None, *, limited: bool = False) -> None:
        super().__init__(message, hint)
        self.wait_s, self.limited = wait_s, limited


class StoppedError(SourceError):
    """The caller no longer waits for the answer: a task was cancelled, or the server shuts down."""
