"""The requests and responses about targets and publications."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import Problem, Text
from lineage_bridge.ports.targets import DriftFinding, PlannedOperation


class TargetRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A target to add. `settings` are those of its kind, with references instead of secrets. With `replace`, a target of this name is
    replaced.
    """

    name: str
    kind: str
    settings: dict[str, Any] = {}
    replace: bool = False


class PublishRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """What a publication may do. `plan_only`: change nothing. `prune`: delete objects in the target that have left the graph, if
    LineageBridge created them.

    `overwrite`: also replace objects that others created, changed or removed in the target, and try again those that it refused.
    """

    plan_only: bool = False
    prune: bool = False
    overwrite: bool = False


class PublicationItem(Struct, frozen=True, omit_defaults=True):
    """A plan or a publication, and its progress.

    - `state`: `running`, `done`, `failed`, `cancelled` or `interrupted`.
    - `counts`: planned operations by action.
    - `outcomes`: operations by outcome: `done`, `refused`, `failed` (its effect is unknown), `not_tried`.
    - `written`: what was created or changed at the target, as numbers by kind of object, if its kind of target counts that.
    - `operations`, `drift`: the first 1,000, refused and failed ones first.
    - `desired`: how many objects the target should have; `unchanged`: how many of them it has already.
    - `kept`: how many objects are left as they are, by reason.
    - `not_expressible`: what the target cannot store.
    - `unmatched`: values of the target's filters that nothing in the graph matches, such as `systems confluant`.
    """

    state: str
    plan_only: bool
    prune: bool
    overwrite: bool
    started_at: str
    desired: int
    unchanged: int
    counts: dict[str, int]
    outcomes: dict[str, int]
    kept: dict[str, int]
    not_expressible: dict[str, int]
    operations: list[PlannedOperation]
    operations_left_out: int
    drift: list[DriftFinding]
    drift_left_out: int
    ended_at: Text = UNSET
    error: Text = UNSET
    hint: Text = UNSET
    code: Text = UNSET
    retry_after_s: float | UnsetType = UNSET
    written: dict[str, int] = {}
    unmatched: list[str] = []


class ContinuousItem(Struct, frozen=True, omit_defaults=True):
    """The state of continuous publishing to a target.

    `state` is `idle` (everything is published), `pending` (changes wait until the graph stays unchanged for a moment), `publishing`,
    `retrying` (from `next_at` on), `waiting` (the graph does not contain all events yet), `busy` (another publication is under way),
    `paused`, or `stopped` (no process publishes). `lag_changes` is how many changes of the graph are not published, absent if unknown, as
    before the first publication; `lag_s` is how long the first of them has waited. `publications` and `failed` are numbers, `failures`
    those since the last success, `operations` the changes made in the target. `last_error` stays until a publication succeeds.
    """

    state: str
    lag_s: float
    publications: int
    failed: int
    failures: int
    operations: int
    lag_changes: int | UnsetType = UNSET
    last_success_at: Text = UNSET
    last_error: Problem | UnsetType = UNSET
    last_error_at: Text = UNSET
    next_at: Text = UNSET
    drift: int | UnsetType = UNSET
    refused: int | UnsetType = UNSET


class TargetItem(Struct, frozen=True, omit_defaults=True):
    """A target. `state` is `paused`, `new` (nothing was published yet) or that of its last plan or publication.

    `origin` is `file` (the settings file), `environment` (its variables) or `added`; `published` is how many objects were published, by
    their state: `published`, `sending` and `deleting` (the outcome is unknown), `refused`. `continuous` is present for targets with
    continuous publishing.
    """

    name: str
    kind: str
    state: str
    origin: str
    settings: dict[str, Any]
    published: dict[str, int]
    last_error: Text = UNSET
    last_at: Text = UNSET
    continuous: ContinuousItem | UnsetType = UNSET


class TargetsAnswer(Struct, frozen=True):
    """All targets, by name."""

    targets: list[TargetItem]


class TargetRemoved(Struct, frozen=True):
    """The target that was removed."""

    removed: str


class PublishedObject(Struct, frozen=True, omit_defaults=True):
    """A job or dataset that was published to a target. `ours`: LineageBridge created it there. `revision`: how many times it was sent."""

    kind: str
    namespace: str
    name: str
    state: str
    ours: bool
    revision: int
    changed_at: str
    detail: Text = UNSET


class PublishedObjects(Struct, frozen=True, omit_defaults=True):
    """A page of the objects that were published to a target. `next` is the `after` of the next page."""

    objects: list[PublishedObject]
    next: Text = UNSET
