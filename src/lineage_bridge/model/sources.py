"""Sources as users see them: settings, state, and what a source cannot read."""

from typing import Any, NamedTuple

import msgspec


class UnseenRecord(msgspec.Struct, frozen=True):
    """Something that a source cannot read, the reason, and since when (UTC microseconds)."""

    what: str
    why: str
    since_us: int


class SourceState(msgspec.Struct, frozen=True):
    """The state of a source. Times are UTC microseconds, None if there is none yet.

    `polls` counts the polls that ended, successful or not; `failures` those that failed since the last success. `error` and `hint`
    belong to the last failure and stay after a later success, when `failures` is 0. `address` is that of the system in the snapshot.
    """

    polls: int = 0
    failures: int = 0
    events: int = 0
    paused: bool = False
    due_us: int | None = None
    tried_us: int | None = None
    succeeded_us: int | None = None
    failed_us: int | None = None
    failing_since_us: int | None = None
    error: str = ""
    hint: str = ""
    address: str = ""
    took_us: int | None = None
    unseen: tuple[UnseenRecord, ...] = ()


class SourceRecord(NamedTuple):
    """A configured source. `settings` are as configured, with secrets as references.

    `origin` is where they were configured: `file` (the settings file), `environment`, or `added` (by a user of the server).
    """

    name: str
    kind: str
    settings: dict[str, Any]
    origin: str
    state: SourceState


class SourceCheck(NamedTuple):
    """One step of a test of a source: whether it worked, what was found or what failed (`message`), and what to do about it.

    `skipped`: it was not tried, because something that it needs is not set.
    """

    step: str
    works: bool
    message: str
    hint: str = ""
    skipped: bool = False


class SettingRecord(NamedTuple):
    """A setting of a kind of source; `description` says what it is for."""

    name: str
    required: bool
    default: Any
    description: str
    secret: bool


class KindRecord(NamedTuple):
    """A kind of source, with its settings."""

    kind: str
    description: str
    settings: tuple[SettingRecord, ...]
