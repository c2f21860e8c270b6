"""Computes the smallest set of operations that turns the state of a target into the desired one. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from lineage_bridge.catalogs.desired import DesiredObject
from lineage_bridge.catalogs.target import CREATE, DELETE, UPDATE, ObjectKey
from lineage_bridge.ports.targets import LedgerEntry

PUBLISHED, SENDING, DELETING, REFUSED = "published", "sending", "deleting", "refused"
CHANGED_THERE, REMOVED_THERE, FOREIGN = "was changed there", "was removed there", "was there before, and was not published from here"
GONE: Final = "is no longer in the graph under this name"
GONE_OR_LEFT_OUT: Final = "is no longer in the graph under this name, or is left out by the target's filters"


@dataclass(frozen=True)
class PlanStep:
    """One operation and its reason. `desired` is None for a deletion, `entry` for an object that was never published.

    `ours`: the object exists at the target only if it was published from here.
    """

    action: str
    key: ObjectKey
    reason: str
    desired: DesiredObject | None
    entry: LedgerEntry | None
    ours: bool = True


@dataclass(frozen=True)
class PlanOptions:
    """What a plan may contain. `prune`: delete objects that are no longer to be published. `overwrite`: also write objects that were
    changed, removed, refused, or already present at the target.

    `deletes`: whether the target can delete. `filters`: whether the target's settings have filters.
    """

    prune: bool = False
    overwrite: bool = False
    deletes: bool = True
    filters: bool = False


@dataclass
class PublicationPlan:
    """Operations in the order of their keys, and objects without an operation.

    `confirmed` are objects that the target has as they should be although the ledger differs; `forgotten` no longer exist on either side.
    """

    steps: list[PlanStep] = field(default_factory=list)
    drift: list[tuple[ObjectKey, str]] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    confirmed: list[tuple[LedgerEntry, DesiredObject]] = field(default_factory=list)
    forgotten: list[ObjectKey] = field(default_factory=list)

    def leave(self, entry: LedgerEntry) -> None:
        """Count an object that needs no operation, because it is unchanged since it was published, or was refused."""
        if entry.state == REFUSED:
            self.kept["refused there before, and unchanged since"] += 1
        else:
            self.unchanged += 1


def is_settled(goal: DesiredObject, entry: LedgerEntry) -> bool:
    """Whether an object needs no operation unless it was changed at the target."""
    return entry.state in (PUBLISHED, REFUSED) and entry.fingerprint == goal.fingerprint


def make_plan(
    desired: Mapping[ObjectKey, DesiredObject],
    ledger: Mapping[ObjectKey, LedgerEntry],
    found: Mapping[ObjectKey, str] | None,
    options: PlanOptions,
    left_out: Mapping[ObjectKey, str] = MappingProxyType({}),
) -> PublicationPlan:
    """Make the plan for a target. `found` has a digest of each of these objects at the target, whoever created it; None if the target
    cannot be read. `left_out` has the reason why an object is not desired although it is in the graph.
    """
    unknown = GONE_OR_LEFT_OUT if options.filters else GONE
    plan = PublicationPlan()
    for key in sorted(desired.keys() | ledger.keys()):
        goal, entry = desired.get(key), ledger.get(key)
        if goal is None and entry is not None:
            _plan_vanished(plan, key, entry, found, options, left_out.get(key, unknown))
        elif goal is not None and (entry is None or entry.state == DELETING):
            _plan_new(plan, key, goal, entry, found, options)
        elif goal is not None and entry is not None:
            _plan_known(plan, key, goal, entry, found, options)
    return plan


def _plan_new(
    plan: PublicationPlan,
    key: ObjectKey,
    goal: DesiredObject,
    entry: LedgerEntry | None,
    found: Mapping[ObjectKey, str] | None,
    options: PlanOptions,
) -> None:
    is_foreign = entry is None and found is not None and key in found
    if not is_foreign:
        is_there = found is not None and key in found  # its deletion has not ended
        plan.steps.append(PlanStep(UPDATE if is_there else CREATE, key, "is new in the graph", goal, entry))
    elif options.overwrite:
        plan.steps.append(PlanStep(UPDATE, key, FOREIGN, goal, None, ours=False))
    else:
        plan.drift.append((key, FOREIGN))


def _plan_known(
    plan: PublicationPlan,
    key: ObjectKey,
    goal: DesiredObject,
    entry: LedgerEntry,
    found: Mapping[ObjectKey, str] | None,
    options: PlanOptions,
) -> None:
    is_same = entry.fingerprint == goal.fingerprint
    if entry.state == SENDING:
        plan.steps.append(PlanStep(UPDATE, key, "its last publication may not have ended", goal, entry, entry.ours))
    elif entry.state == REFUSED:
        if is_same and not options.overwrite:
            plan.leave(entry)
        else:
            reason = "was refused there before" if is_same else "changed in the graph"
            plan.steps.append(PlanStep(UPDATE, key, reason, goal, entry, entry.ours))
    elif found is not None and (drift := _drift(key, entry, found)):
        if found.get(key) == goal.visible:
            plan.confirmed.append((entry, goal))
            plan.unchanged += 1
        elif options.overwrite:
            plan.steps.append(PlanStep(CREATE if key not in found else UPDATE, key, drift, goal, entry, entry.ours))
        else:
            plan.drift.append((key, drift))
    elif not is_same:
        plan.steps.append(PlanStep(UPDATE, key, "changed in the graph", goal, entry, entry.ours))
    elif found is not None and goal.visible != entry.visible:
        plan.steps.append(PlanStep(UPDATE, key, "has other names at the target than when it was published", goal, entry, entry.ours))
    else:
        plan.unchanged += 1


def _drift(key: ObjectKey, entry: LedgerEntry, found: Mapping[ObjectKey, str]) -> str:
    if key not in found:
        return REMOVED_THERE
    return "" if found[key] == entry.visible else CHANGED_THERE


def _plan_vanished(
    plan: PublicationPlan,
    key: ObjectKey,
    entry: LedgerEntry,
    found: Mapping[ObjectKey, str] | None,
    options: PlanOptions,
    reason: str,
) -> None:
    """Plan for objects that were published and are not desired any more. Only objects that LineageBridge created are ever deleted."""
    is_gone = found is not None and key not in found
    if is_gone or (entry.state == REFUSED and not entry.visible):
        plan.forgotten.append(key)
    elif not entry.ours:
        plan.kept["no longer to be published, but was there before it was published"] += 1
    elif not options.deletes:
        plan.kept["no longer to be published, but nothing can be deleted there"] += 1
    elif entry.state == PUBLISHED and found is not None and found[key] != entry.visible and not options.overwrite:
        plan.drift.append((key, CHANGED_THERE))
    elif options.prune:
        plan.steps.append(PlanStep(DELETE, key, reason, None, entry, entry.ours))
    else:
        plan.kept["no longer to be published; --prune deletes it"] += 1
