"""Sources and inputs as users see them: settings, state, and what a source cannot read."""

from typing import Any, NamedTuple

import msgspec

from lineage_bridge.graph.record_origin import RecordOrigin


class UnseenRecord(msgspec.Struct, frozen=True):
    """Something that a source cannot read, the reason, and since when (UTC microseconds)."""

    what: str
    why: str
    since_us: int


class SourceState(msgspec.Struct, frozen=True):
    """The state of a source. Times are UTC microseconds, None if there is none yet.

    `polls` counts the polls that ended, successful or not; `failures` those that failed since the last success. `error` and `hint` belong
    to the last failure and stay after a later success, when `failures` is 0. `address` is the address of the system from which the snapshot
    comes.
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

    `skipped`: the step was not tried, because a setting that it needs is missing.
    """

    step: str
    works: bool
    message: str
    hint: str = ""
    skipped: bool = False


class SettingRecord(NamedTuple):
    """A setting of a kind of source; `description` says what it is for. `many`: its value is a list."""

    name: str
    required: bool
    default: Any
    description: str
    secret: bool
    many: bool


class KindRecord(NamedTuple):
    """A kind of source, with its settings."""

    kind: str
    description: str
    settings: tuple[SettingRecord, ...]


class InputProgress(msgspec.Struct, frozen=True):
    """The events of an input in the log: the numbers of accepted events, of rejected ones by code, and the last event.

    `last_us` is when the last event arrived, in UTC microseconds.
    """

    accepted: int = 0
    rejected: dict[str, int] = {}
    last: RecordOrigin | None = None
    last_us: int | None = None


class InputStatus(msgspec.Struct, frozen=True):
    """What the process that reads an input is doing. Times are UTC microseconds; counts begin with that process.

    `state` is `starting`, `reading`, `idle` (it has closed its connection for a while), `waiting` (the log accepts no records now) or
    `failing`. `error` and `hint` belong to the last failure, and are kept after it. `lag_records` records have not been read yet, and the
    oldest of them has waited about `lag_s` seconds; for an input that reads files, `lag_files` files with `lag_bytes` bytes have not been
    read yet. A lag is None if unknown. `skipped` records have no value, `lost` ones were deleted before they were read. `filtered` events
    were left out by the names of their jobs.
    """

    state: str = "starting"
    since_us: int = 0
    error: str = ""
    hint: str = ""
    failed_us: int | None = None
    partitions: int = 0
    lag_records: int | None = None
    lag_s: float | None = None
    records_per_s: float = 0.0
    read: int = 0
    skipped: int = 0
    lost: int = 0
    problems: tuple[str, ...] = ()
    lag_files: int | None = None
    lag_bytes: int | None = None
    filtered: int = 0


class InputRecord(NamedTuple):
    """A configured input. `settings` are as configured, with secrets as references; `origin` is `file` (the settings file) or `added`.

    `progress` is None while it is being computed, `status` if no process reads inputs.
    """

    name: str
    kind: str
    settings: dict[str, Any]
    origin: str
    paused: bool
    progress: InputProgress | None = None
    status: InputStatus | None = None
