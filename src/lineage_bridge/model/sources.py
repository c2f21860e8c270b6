"""Sources of observation as users meet them: how each is set, how it fares, what it cannot see."""

from typing import Any, NamedTuple

import msgspec


class UnseenRecord(msgspec.Struct, frozen=True):
    """Something that a source cannot see, why, and since when (UTC microseconds)."""

    what: str
    why: str
    since_us: int


class SourceState(msgspec.Struct, frozen=True):
    """How a source fares. Times are UTC microseconds, None where there is none yet.

    `polls` counts those that ended, well or not; `failures` those that failed since one succeeded. `error` and `hint` are the last
    failure's, whether it is over or not: it is over if `failures` is 0. `address` is that of the system the snapshot is of.
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
    """A configured source: `settings` as they were written, secrets as references.

    `origin`: where they were written: `file` (the settings file), `environment` or, by a user of the server, `added`.
    """

    name: str
    kind: str
    settings: dict[str, Any]
    origin: str
    state: SourceState


class SourceCheck(NamedTuple):
    """One step of a test of a source: whether it worked, what was seen or what failed, and what to do about it."""

    step: str
    works: bool
    told: str
    hint: str = ""


class SettingRecord(NamedTuple):
    """A setting of a kind of source."""

    name: str
    required: bool
    default: Any
    told: str
    secret: bool


class KindRecord(NamedTuple):
    """A kind of source, with what can be set."""

    kind: str
    told: str
    settings: tuple[SettingRecord, ...]
