"""Applies planned changes to a target: several at once, each retried while it may succeed, and each recorded in the ledger before and
after.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import msgspec

from lineage_bridge.catalogs.calls import AskedT, TargetCalls
from lineage_bridge.catalogs.desired import DesiredObject
from lineage_bridge.catalogs.events import stamped
from lineage_bridge.catalogs.plan import DELETING, PUBLISHED, REFUSED, SENDING, PlanStep, PublicationPlan
from lineage_bridge.catalogs.reasons import ANSWERED, reason_code
from lineage_bridge.catalogs.target import DELETE, AnswerT, ObjectKey, Operation, Outcome, Target
from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import digest_of, run_id
from lineage_bridge.ports.targets import LedgerEntry, PublicationLedger
from lineage_bridge.tracing import span, traceparent

DONE, FAILED, NOT_TRIED, REFUSED_THERE = "done", "failed", "not_tried", "refused"
"""The outcome of a step: done; failed, with unknown effect; not tried, because no other step could succeed either; refused for good."""
_LOOKED_UP: Final = 20
"""How many things that objects refer to one call looks up."""


def key_text(key: ObjectKey) -> str:
    """Write a key in the form that the ledger stores."""
    return msgspec.json.encode(key).decode()


def key_from_text(text: str) -> ObjectKey:
    """Parse a key from the ledger."""
    return ObjectKey(*msgspec.json.decode(text))


@dataclass(frozen=True)
class StepResult:
    """The outcome of a step: `done`, `refused`, `failed` (its effect is unknown), or `not_tried`.

    `detail` is the reason, `code` the kind of problem. `written` is how many things were created or changed at the target, by kind.
    """

    step: PlanStep
    outcome: str
    detail: str = ""
    code: str = ""
    written: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """The objects that a target has, with their digests, and the reasons why others could not be read."""

    visible: dict[ObjectKey, str] = field(default_factory=dict)
    unread: dict[ObjectKey, SourceError] = field(default_factory=dict)


@dataclass
class Publisher:
    """Applies plans to one target. `installation` is the id of this LineageBridge; `wait` waits given seconds; once `is_stopped` returns
    True, no more steps begin. If the remaining steps were not tried because of an error, `given_up` is that error.
    """

    target: Target[Any]
    ledger: PublicationLedger
    installation: str
    clock_us: Callable[[], int]
    wait: Callable[[float], None] = time.sleep
    is_stopped: Callable[[], bool] = lambda: False
    given_up: SourceError | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def destination(self) -> str:
        """The text by which the ledger identifies the target."""
        return f"{self.target.name} {self.target.settings.destination}"

    @cached_property
    def _calls(self) -> TargetCalls:
        return TargetCalls(self.target, self.clock_us, self.wait, self.is_stopped)

    def known(self) -> dict[ObjectKey, LedgerEntry]:
        """What was published to the target so far, from the ledger."""
        return {key_from_text(text): entry for text, entry in self.ledger.entries(self.destination).items()}

    def read(self, keys: Sequence[ObjectKey]) -> Found | None:
        """Read the state of these objects at the target; None if objects of this target cannot be read back. Raises SourceError for an
        error that all other reads would have too.
        """
        if not self.target.reads:
            return None
        found = Found()
        for of, answer in self._asked("read objects", self.target.read, keys, self.target.read_batch):
            if isinstance(answer, SourceError):
                found.unread.update(dict.fromkeys(of, answer))
            else:
                found.visible.update(answer)
        return found

    def look_up(self, objects: Mapping[ObjectKey, DesiredObject]) -> dict[ObjectKey, SourceError]:
        """Have the target find what objects refer to; return the objects for which that failed. Raises SourceError for an error that all
        other calls would have too.
        """
        if not self.target.refers:
            return {}
        needed = sorted({reference for made in objects.values() for reference in self.target.references(made.event())})
        failed: dict[Any, SourceError] = {}
        for of, answer in self._asked("look up objects", self.target.look_up, needed, _LOOKED_UP):
            if isinstance(answer, SourceError):
                failed.update(dict.fromkeys(of, answer))
        lacking = ((key, self.target.references(made.event())) for key, made in (objects.items() if failed else ()))
        return {key: failed[reference] for key, references in lacking for reference in references if reference in failed}

    def _asked(
        self, what: str, call: Callable[[Sequence[AskedT]], AnswerT], asked: Sequence[AskedT], size: int
    ) -> Iterator[tuple[Sequence[AskedT], AnswerT | SourceError]]:
        """Make calls that change nothing, each for so many items, several at once; yield the answer or error of each."""
        parent = traceparent()

        def portion(of: Sequence[AskedT]) -> list[tuple[Sequence[AskedT], AnswerT | SourceError]]:
            with span(what, {"lineage_bridge.objects": len(of)}, kind="CLIENT", parent=parent) as asking:
                answers = list(self._calls.answers(call, of))
                if failed := next((answer for _, answer in answers if isinstance(answer, SourceError)), None):
                    asking.fail(reason_code(failed))
                return answers

        with ThreadPoolExecutor(self.target.settings.at_once, thread_name_prefix="read") as pool:
            for answers in pool.map(portion, [asked[at : at + size] for at in range(0, len(asked), size)]):
                yield from answers

    def apply(self, plan: PublicationPlan) -> Iterator[StepResult]:
        """Make the changes of a plan, and yield each when it has ended. After an error that all other changes would have too, no more are
        tried.
        """
        now = self.clock_us()
        confirmed = [
            entry._replace(state=PUBLISHED, fingerprint=goal.fingerprint, visible=goal.visible, changed_us=now, detail="")
            for entry, goal in plan.confirmed
        ]
        self.ledger.record(self.destination, confirmed, map(key_text, plan.forgotten))
        size = self.target.batch
        batches = [plan.steps[at : at + size] for at in range(0, len(plan.steps), size)]
        at_once, parent = self.target.settings.at_once, traceparent()

        def portion(steps: Sequence[PlanStep]) -> list[StepResult]:
            with span("write objects", {"lineage_bridge.objects": len(steps)}, kind="CLIENT", parent=parent) as writing:
                results = self._apply_batch(steps)
                if failed := next((result for result in results if result.outcome != DONE), None):
                    writing.fail(failed.code or failed.outcome)
                return results

        with ThreadPoolExecutor(at_once, thread_name_prefix="publish") as pool:
            for begin in range(0, len(batches), at_once * 8):
                for results in pool.map(portion, batches[begin : begin + at_once * 8]):
                    yield from results

    def _apply_batch(self, steps: Sequence[PlanStep]) -> list[StepResult]:
        if self._stopped.is_set():
            return [StepResult(step, NOT_TRIED) for step in steps]
        intended = [self._intended(step) for step in steps]
        self.ledger.record(self.destination, intended)
        operations = [self._operation(step, entry) for step, entry in zip(steps, intended, strict=True)]
        outcomes, codes = list[Outcome](), list[str]()
        try:
            for asked, answer in self._calls.answers(self.target.write, operations):
                outcomes += [Outcome(False, _text(answer), later=True) for _ in asked] if isinstance(answer, SourceError) else answer
                codes += [reason_code(answer) if isinstance(answer, SourceError) else ""] * len(asked)
        except SourceError as error:
            self.given_up = error
            self._stopped.set()
            outcomes += [Outcome(False, _text(error), later=True)] * (len(steps) - len(outcomes))
            codes += [reason_code(error)] * (len(steps) - len(codes))
        self._record(steps, intended, outcomes)
        return [_result(*found) for found in zip(steps, outcomes, codes, strict=True)]

    def _intended(self, step: PlanStep) -> LedgerEntry:
        """The ledger's entry for a step that is about to begin, whose outcome is therefore unknown. A repeated step keeps its revision."""
        entry, now = step.entry, self.clock_us()
        if step.desired is None and entry is not None:
            return entry._replace(state=DELETING, changed_us=now)
        if step.desired is None:
            raise ValueError(f"internal error: {step.key} is to be deleted, but the ledger has no publication of it")
        fingerprint, revision = step.desired.fingerprint, entry.revision if entry else 0
        is_again = entry is not None and entry.state == SENDING and entry.fingerprint == fingerprint
        return LedgerEntry(key_text(step.key), SENDING, step.ours, fingerprint, step.desired.visible, revision + (not is_again), now)

    def _operation(self, step: PlanStep, entry: LedgerEntry) -> Operation:
        identity = [self.installation, self.destination, entry.key, entry.fingerprint, entry.revision, step.desired is None]
        body, returns = b"", False
        if step.desired is not None:
            returns = step.entry is not None and step.entry.state == DELETING
            run = run_id("publication", self.installation, entry.key, entry.fingerprint, entry.revision)
            body = stamped(step.desired.event(), entry.changed_us, str(run))
        return Operation(step.action, step.key, body, digest_of(identity), returns)

    def _record(self, steps: Sequence[PlanStep], intended: Sequence[LedgerEntry], outcomes: Sequence[Outcome]) -> None:
        entries, forgotten, now = [], [], self.clock_us()
        for step, entry, outcome in zip(steps, intended, outcomes, strict=True):
            if outcome.foreign:
                forgotten.append(entry.key)  # the next publication finds it there
            elif outcome.later:
                continue  # the next publication writes it again
            elif outcome.done and step.action == DELETE:
                forgotten.append(entry.key)
            elif outcome.done:
                entries.append(entry._replace(state=PUBLISHED, changed_us=now))
            elif step.action == DELETE:
                entries.append(entry._replace(state=PUBLISHED, changed_us=now, detail=outcome.detail))
            else:
                before = step.entry.visible if step.entry else ""
                entries.append(entry._replace(state=REFUSED, visible=before, changed_us=now, detail=outcome.detail))
        self.ledger.record(self.destination, entries, forgotten)


def _result(step: PlanStep, outcome: Outcome, code: str) -> StepResult:
    if outcome.done:
        return StepResult(step, DONE, outcome.detail, written=outcome.written)
    if outcome.later:
        return StepResult(step, FAILED, outcome.detail, code or ANSWERED, outcome.written)
    return StepResult(step, REFUSED_THERE, outcome.detail, written=outcome.written)


def _text(error: SourceError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)
