"""Runs a plan or a publication from start to end, and reports on it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from lineage_bridge.catalogs.apply import DONE, FAILED, NOT_TRIED, Publisher, StepResult
from lineage_bridge.catalogs.desired import DesiredState, desired_state, resolve_objects
from lineage_bridge.catalogs.plan import PlanOptions, PublicationPlan, is_settled, make_plan
from lineage_bridge.catalogs.reasons import reason_code
from lineage_bridge.catalogs.target import ObjectKey
from lineage_bridge.errors import BusyError, LineageBridgeError, StoppedError
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.ports.targets import DriftFinding, LedgerEntry, PlannedOperation, PublicationReport
from lineage_bridge.tracing import TraceSpan, span

MOST_LISTED = 1000
"""The maximum number of operations and findings in a report."""
REPORT_US = 1_000_000
READ = "read"
"""The action of an object that could not be read, so that nothing was planned for it."""


@dataclass
class _Outcomes:
    """Collects the outcomes of operations: how many there are, what they wrote, and the first ones, beginning with those that were not
    done.
    """

    counts: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    problems: list[PlannedOperation] = field(default_factory=list)
    others: list[PlannedOperation] = field(default_factory=list)

    def add(self, operation: PlannedOperation) -> None:
        self.counts[operation.outcome] += 1
        listed = self.others if operation.outcome == DONE else self.problems
        if len(listed) < MOST_LISTED:
            listed.append(operation)

    @property
    def numbers(self) -> dict[str, int]:
        return dict(sorted(self.counts.items()))


@dataclass
class Publication:
    """One publication: makes a plan for a target, and applies it. `save` stores the report, about every second while it runs.

    `graph` opens a reader; `report` is the initial one. With `changed_only`, only the objects to be changed are read from the target, so
    drift of all other objects is not found.
    """

    publisher: Publisher
    graph: Callable[[], AbstractContextManager[GraphReader]]
    report: PublicationReport
    save: Callable[[PublicationReport], None]
    changed_only: bool = False

    def run(self) -> PublicationReport:
        """Plan, and publish unless only a plan is requested. A failure is part of the report. Stores every report; returns the last."""
        with span("publish", {"lineage_bridge.target": self.publisher.target.name}) as publishing:
            self._run_reported(publishing)
        return self.report

    def _run_reported(self, publishing: TraceSpan) -> None:
        try:
            self._run()
            if self.report.state != "done":
                publishing.fail(self.report.code or self.report.state)
        except LineageBridgeError as error:
            publishing.fail(type(error).__name__)
            self._update(state=_ended(error), error=str(error), hint=error.hint, **_cause(error))
        except Exception as error:
            self._update(state="failed", error=f"{type(error).__name__}: {error}"[:500], code=reason_code(error), given_up=True)
            raise

    def _run(self) -> None:
        self.save(self.report)
        plan, outcomes = self._planned()
        if not self.report.plan_only:
            self._apply(plan, outcomes)
        shown = [*outcomes.problems, *outcomes.others][:MOST_LISTED] if not self.report.plan_only else self.report.operations
        failed = next((found for found in outcomes.problems if found.outcome == FAILED), None)
        is_failed = outcomes.counts[FAILED] + outcomes.counts[NOT_TRIED] > 0
        given_up = self.publisher.given_up
        self._update(
            state=_ended(given_up) if is_failed else "done",
            error=failed.detail if failed else str(given_up or ""),
            outcomes=outcomes.numbers,
            written=dict(sorted(outcomes.written.items())),
            operations=shown,
            operations_left_out=self.report.operations_left_out if self.report.plan_only else outcomes.counts.total() - len(shown),
            **(_cause(given_up) if given_up else {"code": failed.code if failed else ""}),
        )

    def _apply(self, plan: PublicationPlan, outcomes: _Outcomes) -> None:
        clock = self.publisher.clock_us
        saved_us = clock()
        for result in self.publisher.apply(plan):
            outcomes.add(_operation(result))
            outcomes.written.update(result.written)
            if clock() - saved_us > REPORT_US:
                saved_us = clock()
                self.save(msgspec.structs.replace(self.report, outcomes=outcomes.numbers))

    def _planned(self) -> tuple[PublicationPlan, _Outcomes]:
        """The plan, and the outcomes of failed reads."""
        target = self.publisher.target
        ledger = self.publisher.known()
        with self.graph() as reader:
            desired = desired_state(reader, target, self.publisher.installation, self.publisher.clock_us(), ledger.keys())
        outcomes = _Outcomes()
        plan = self._plan(desired, ledger, outcomes)
        unread = outcomes.problems[:MOST_LISTED]
        room = MOST_LISTED - len(unread)
        self.report = msgspec.structs.replace(
            self.report,
            desired=len(desired.objects),
            unchanged=plan.unchanged,
            counts=dict(sorted(Counter(step.action for step in plan.steps).items())),
            kept=dict(sorted(plan.kept.items())),
            not_expressible=dict(sorted(desired.not_expressible.items())),
            unmatched=desired.unmatched,
            operations=[*unread, *(_operation(StepResult(step, "")) for step in plan.steps[:room])],
            operations_left_out=outcomes.counts.total() - len(unread) + max(0, len(plan.steps) - room),
            drift=list(_findings(plan.drift[:MOST_LISTED])),
            drift_left_out=max(0, len(plan.drift) - MOST_LISTED),
        )
        return plan, outcomes

    def _plan(self, desired: DesiredState, ledger: Mapping[ObjectKey, LedgerEntry], outcomes: _Outcomes) -> PublicationPlan:
        goals, target = desired.objects, self.publisher.target
        options = PlanOptions(self.report.prune, self.report.overwrite, target.deletes, target.settings.has_filters)
        settled = {key for key, goal in goals.items() if key in ledger and is_settled(goal, ledger[key])} if self.changed_only else set()
        failed = self.publisher.look_up(_without(goals, settled))
        if target.refers:
            resolve_objects(desired, target, goals.keys() - settled - failed.keys())
        found = self.publisher.read(sorted((goals.keys() | ledger.keys()) - settled - failed.keys()))
        failed.update(found.unread if found else {})
        for key, error in sorted(failed.items()):
            reason = "has to be compared with what is there"
            outcomes.add(PlannedOperation(READ, *key, reason, FAILED, str(error), reason_code(error)))
        left_out = settled | failed.keys()
        visible = found.visible if found else None
        plan = make_plan(_without(goals, left_out), _without(ledger, left_out), visible, options, desired.left_out)
        for key in settled:
            plan.leave(ledger[key])
        return plan

    def _update(self, **members: Any) -> None:  # noqa: ANN401  # members of the report
        self.report = msgspec.structs.replace(self.report, ended_us=self.publisher.clock_us(), **members)
        self.save(self.report)


def _operation(result: StepResult) -> PlannedOperation:
    return PlannedOperation(result.step.action, *result.step.key, result.step.reason, result.outcome, result.detail, result.code)


_ValueT = TypeVar("_ValueT")


def _without(of: Mapping[ObjectKey, _ValueT], keys: Collection[ObjectKey]) -> dict[ObjectKey, _ValueT]:
    return {key: value for key, value in of.items() if key not in keys}


def _ended(error: LineageBridgeError | None) -> str:
    """The state of a publication that ended with this error."""
    return "cancelled" if isinstance(error, StoppedError) else "failed"


def _cause(error: LineageBridgeError) -> dict[str, Any]:
    """The members of a report that give the reason why the rest was not tried."""
    asked = error.wait_s if isinstance(error, BusyError) else None
    return {"code": reason_code(error), "given_up": True, "retry_after_s": asked}


def _findings(drift: Iterable[tuple[ObjectKey, str]]) -> Iterator[DriftFinding]:
    for key, finding in drift:
        yield DriftFinding(*key, finding)
