"""The requests and responses of the routes for sources and inputs."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import Text


class SourceRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A source to add. `settings` are those of its kind, with references instead of secrets. With `replace`, a source of this name is
    replaced.
    """

    name: str
    kind: str
    settings: dict[str, Any] = {}
    replace: bool = False


class SourceFailure(Struct, frozen=True):
    """Why a source could not be polled, and what to do about it."""

    message: str
    hint: str
    at: str


class UnseenItem(Struct, frozen=True):
    """An object that a source cannot read, why, and since when. The graph keeps what is known about the object, and does not treat it as
    removed.
    """

    what: str
    why: str
    since: str


class SourceItem(Struct, frozen=True, omit_defaults=True):
    """A source and its state.

    `state` is `new` (not polled yet), `ok`, `partial` (some objects are unseen), `failing` or `paused`. `origin` is `file` (the settings
    file), `environment` (its variables) or `added`. `last_error` stays after a later success; `failing_since` is present while polls fail.
    """

    name: str
    kind: str
    state: str
    origin: str
    settings: dict[str, Any]
    polls: int
    events: int
    unseen: list[UnseenItem]
    last_poll_at: str | UnsetType = UNSET
    last_success_at: str | UnsetType = UNSET
    failing_since: str | UnsetType = UNSET
    last_error: SourceFailure | UnsetType = UNSET
    next_poll_at: str | UnsetType = UNSET
    took_s: float | UnsetType = UNSET


class Sources(Struct, frozen=True):
    """All sources, by name."""

    sources: list[SourceItem]


class SourceRemoved(Struct, frozen=True, tag_field="status", tag="removed"):
    """The source is no longer polled. The events it sent stay."""

    name: str


class CheckItem(Struct, frozen=True):
    """One step of a test: whether it works, what was found or what failed, and a hint about what to do.

    `skipped`: the step was not tried, because a setting that it needs is missing.
    """

    step: str
    works: bool
    told: str
    hint: str
    skipped: bool


class SourceChecks(Struct, frozen=True):
    """The result of testing a source; the source `works` if every step does."""

    works: bool
    checks: list[CheckItem]


class SettingItem(Struct, frozen=True):
    """A setting of a kind of source; a secret is set by reference: ${env:NAME}, ${file:PATH}, ${keyring:SERVICE/USER}, ${sealed:NAME}.

    `many`: its value is a list.
    """

    name: str
    required: bool
    default: Any
    description: str
    secret: bool
    many: bool


class KindItem(Struct, frozen=True):
    """A kind of source or input, with its settings."""

    kind: str
    description: str
    settings: list[SettingItem]


class KindsAnswer(Struct, frozen=True):
    """The kinds of sources or inputs."""

    kinds: list[KindItem]


class InputRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """An input to add. `settings` are those of its kind, with references instead of secrets. With `replace`, an input of this name is
    replaced.

    With the kind `openmetadata`, `settings` are those of OpenMetadata's OpenLineage connector; they are translated.
    """

    name: str
    kind: str
    settings: dict[str, Any] = {}
    replace: bool = False


class InputPlace(Struct, frozen=True, omit_defaults=True):
    """The position of the last record of an input that is in the log. `at` is when the record was written to the stream.

    `offset` is a string from 2^53 on (sequence numbers of Kinesis). `part` is the number of a record within an aggregated record.
    """

    stream: str
    partition: str
    offset: int | str
    taken_in_at: str
    at: Text = UNSET
    part: int | UnsetType = UNSET


class InputItem(Struct, frozen=True, omit_defaults=True):
    """An input and its state.

    `state` is `paused`, `unread` (no process reads inputs), `starting`, `reading`, `idle` (its connection is closed until `interval_s` has
    passed), `waiting` (the log does not accept records now) or `failing`. `origin` is `file` (the settings file) or `added`. `accepted` and
    `rejected` (by code) count events in the log; `read`, `skipped` (records without a value) and `lost` (deleted before they were read)
    count records since the process that reads inputs has started, `filtered` the events that were left out by the setting `jobs`.
    `lag_records` records wait to be read, for about `lag_s` seconds;
    for inputs that read files, `lag_files` files with `lag_bytes` bytes.
    `last_error` stays after it was resolved. `problems` are errors that affect only a part of the input, such as one partition.
    """

    name: str
    kind: str
    state: str
    origin: str
    settings: dict[str, Any]
    accepted: int
    rejected: dict[str, int]
    records_per_s: float
    read: int
    skipped: int
    filtered: int
    lost: int
    partitions: int
    problems: list[str]
    since: Text = UNSET
    lag_records: int | UnsetType = UNSET
    lag_s: float | UnsetType = UNSET
    lag_files: int | UnsetType = UNSET
    lag_bytes: int | UnsetType = UNSET
    last_record: InputPlace | UnsetType = UNSET
    last_error: SourceFailure | UnsetType = UNSET


class Inputs(Struct, frozen=True):
    """All inputs, by name."""

    inputs: list[InputItem]


class InputRemoved(Struct, frozen=True, tag_field="status", tag="removed"):
    """The input is no longer read. Its events stay; a later input of the same name continues at its position."""

    name: str
