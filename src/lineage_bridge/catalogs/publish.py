"""A plan or a publication from its beginning to its end, and the report of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from lineage_bridge.catalogs.apply import Publisher, StepResult
from lineage_bridge.catalogs.desired import DesiredState, desired_state
from lineage_bridge.catalogs.plan import PlanOptions, PublicationPlan, make_plan
from lineage_bridge.catalogs.target import ObjectKey, Target
from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.ports.targets import DriftFinding, PlannedOperation, PublicationReport

MOST_LISTED = 1000
"""How many operations and findings a report lists."""
REPORT_US = 1_000_000


@dataclass
class Publication:
    """Plans for one target, and publishes to it. `save` stores the report, about every second while it runs.

    `graph` opens a reader; `report` is the one to begin with.
    """

    publisher: Publisher
    graph: Callable[[], AbstractContextManager[GraphReader]]
    report: PublicationReport
    save: Callable[[PublicationReport], None]
    _results: list[PlannedOperation] = field(default_factory=list)

    def run(self) -> PublicationReport:
        """Plan, and publish unless only a plan is wanted. A failure is in the report. Stores every report; returns the last."""
        try:
            self._run()
        except LineageBridgeError as error:
            self._update(state="failed", error=str(error), hint=error.hint)
        except Exception as error:
            self._update(state="failed", error=f"{type(error).__name__}: {error}"[:500])
            raise
        return self.report

    def _run(self) -> None:
        target, clock = self.publisher.target, self.publisher.clock_us
        self.save(self.report)
        with self.graph() as reader:
            desired = desired_state(reader, target, self.publisher.installation, clock())
        plan = self._plan(target, desired)
        if self.report.plan_only:
            self._update(state="done")
            return
        outcomes: Counter[str] = Counter()
        saved_us, problems, others = clock(), list[PlannedOperation](), list[PlannedOperation]()
        for result in self.publisher.apply(plan):
            outcomes[result.outcome] += 1
            listed = others if result.outcome == "done" else problems
            if len(listed) < MOST_LISTED:
                listed.append(_operation(result))
            if clock() - saved_us > REPORT_US:
                saved_us = clock()
                self.save(msgspec.structs.replace(self.report, outcomes=dict(sorted(outcomes.items()))))
        shown = [*problems, *others][:MOST_LISTED]
        error = next((found.detail for found in problems if found.outcome == "failed"), "")
        self._update(
            state="failed" if error else "done",
            error=error,
            outcomes=dict(sorted(outcomes.items())),
            operations=shown,
            operations_left_out=outcomes.total() - len(shown),
        )

    def _plan(self, target: Target[Any], desired: DesiredState) -> PublicationPlan:
        ledger = self.publisher.known()
        found = self.publisher.read(sorted(desired.objects.keys() | ledger.keys()))
        options = PlanOptions(self.report.prune, self.report.overwrite, target.deletes)
        plan = make_plan(desired.objects, ledger, found, options)
        self.report = msgspec.structs.replace(
            self.report,
            desired=len(desired.objects),
            unchanged=plan.unchanged,
            counts=dict(sorted(Counter(step.action for step in plan.steps).items())),
            kept=dict(sorted(plan.kept.items())),
            not_expressible=dict(sorted(desired.not_expressible.items())),
            operations=[_operation(StepResult(step, "")) for step in plan.steps[:MOST_LISTED]],
            operations_left_out=max(0, len(plan.steps) - MOST_LISTED),
            drift=list(_findings(plan.drift[:MOST_LISTED])),
            drift_left_out=max(0, len(plan.drift) - MOST_LISTED),
        )
        return plan

    def _update(self, **members: Any) -> None:  # noqa: ANN401  # members of the report
        self.report = msgspec.structs.replace(self.report, ended_us=self.publisher.clock_us(), **members)
        self.save(self.report)


def _operation(result: StepResult) -> PlannedOperation:
    return PlannedOperation(result.step.action, *result.step.key, result.step.reason, result.outcome, result.detail)


def _findings(drift: Iterable[tuple[ObjectKey, str]]) -> Iterator[DriftFinding]:
    for key, finding in drift:
        yield DriftFinding(*key, finding)
