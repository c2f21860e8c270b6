"""Makes planned changes at a target: some at once, each tried again while it may succeed, each in the ledger before and after."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
import tenacity

from lineage_bridge.catalogs.events import digest_of, stamped
from lineage_bridge.catalogs.plan import DELETING, PUBLISHED, REFUSED, SENDING, PlanStep, PublicationPlan
from lineage_bridge.catalogs.target import DELETE, ObjectKey, Operation, Outcome, Target
from lineage_bridge.errors import BusyError, SourceError, UnreachableError
from lineage_bridge.openlineage.event_builder import run_id
from lineage_bridge.ports.targets import LedgerEntry, PublicationLedger

LONGEST_WAIT_S, LONGEST_ASKED_S = 30.0, 600.0
"""How long to wait before another try at most, and at most if the target says how long."""
MOST_FAILURES: Final = 5
"""After how many calls in a row that fail although each was tried often enough a target counts as broken as a whole."""
AskedT = TypeVar("AskedT")
AnswerT = TypeVar("AnswerT")
NOT_TRIED: Final = "not_tried"


def key_text(key: ObjectKey) -> str:
    """A key as the ledger has it."""
    return msgspec.json.encode(key).decode()


def key_from_text(text: str) -> ObjectKey:
    """The key that the ledger has as text."""
    return ObjectKey(*msgspec.json.decode(text))


@dataclass(frozen=True)
class StepResult:
    """How a step went: `done`, `refused`, `failed` (it may have been made or not), or `not_tried`; `detail` says why."""

    step: PlanStep
    outcome: str
    detail: str = ""


@dataclass
class Publisher:
    """Applies plans to one target. `installation` is the id of this one; `wait` waits so many seconds."""

    target: Target[Any]
    ledger: PublicationLedger
    installation: str
    clock_us: Callable[[], int]
    wait: Callable[[float], None] = time.sleep
    _stopped: threading.Event = field(default_factory=threading.Event)
    _failures: int = 0

    @property
    def place(self) -> str:
        """Where the target is, for the ledger."""
        return f"{self.target.name} {self.target.settings.place}"

    def known(self) -> dict[ObjectKey, LedgerEntry]:
        """What was published there."""
        return {key_from_text(text): entry for text, entry in self.ledger.entries(self.place).items()}

    def read(self, keys: Sequence[ObjectKey]) -> dict[ObjectKey, str] | None:
        """What is there of these objects, with its digest; None if the target cannot be read. Raises SourceError."""
        if not self.target.reads:
            return None
        size, found = self.target.read_batch, dict[ObjectKey, str]()
        with ThreadPoolExecutor(self.target.settings.at_once, thread_name_prefix="read") as pool:
            asked = [keys[at : at + size] for at in range(0, len(keys), size)]
            for portion in pool.map(partial(self._tried, self.target.read), asked):
                found.update(portion)
        return found

    def apply(self, plan: PublicationPlan) -> Iterator[StepResult]:
        """Make the changes of a plan, as they end. After an error that every other change would meet, the rest is not tried."""
        now = self.clock_us()
        confirmed = [
            entry._replace(state=PUBLISHED, fingerprint=goal.fingerprint, visible=goal.visible, changed_us=now, detail="")
            for entry, goal in plan.confirmed
        ]
        self.ledger.record(self.place, confirmed, map(key_text, plan.forgotten))
        size = self.target.batch
        batches = [plan.steps[at : at + size] for at in range(0, len(plan.steps), size)]
        at_once = self.target.settings.at_once
        with ThreadPoolExecutor(at_once, thread_name_prefix="publish") as pool:
            for begin in range(0, len(batches), at_once * 8):
                for results in pool.map(self._apply_batch, batches[begin : begin + at_once * 8]):
                    yield from results

    def _apply_batch(self, steps: Sequence[PlanStep]) -> list[StepResult]:
        if self._stopped.is_set():
            return [StepResult(step, NOT_TRIED) for step in steps]
        intended = [self._intended(step) for step in steps]
        self.ledger.record(self.place, intended)
        operations = [self._operation(step, entry) for step, entry in zip(steps, intended, strict=True)]
        try:
            outcomes = self._outcomes(operations)
        except SourceError as error:
            self._stopped.set()
            return [StepResult(step, "failed", _text(error)) for step in steps]
        self._record(steps, intended, outcomes)
        return [StepResult(step, _result(outcome), outcome.detail) for step, outcome in zip(steps, outcomes, strict=True)]

    def _outcomes(self, operations: Sequence[Operation]) -> list[Outcome]:
        """What became of operations. Of several that fail together each is made by itself, as one may spoil them all.

        Raises SourceError for what every other operation would meet.
        """
        try:
            outcomes = self._tried(self.target.write, operations)
        except BusyError as error:
            self._failures += 1
            if error.limited or error.wait_s is not None or self._failures >= MOST_FAILURES:
                raise
            if len(operations) > 1:
                return [outcome for operation in operations for outcome in self._outcomes([operation])]
            return [Outcome(False, _text(error), later=True)]
        self._failures = 0
        return outcomes

    def _tried(self, call: Callable[[Sequence[AskedT]], AnswerT], asked: Sequence[AskedT]) -> AnswerT:
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.target.settings.tries),
            wait=_wait,
            retry=tenacity.retry_if_exception_type((BusyError, UnreachableError)),
            sleep=self.wait,
            reraise=True,
        )
        return retrying(call, asked)

    def _intended(self, step: PlanStep) -> LedgerEntry:
        """The entry of a step whose outcome is unknown. A step that is made again has the revision that it had."""
        entry, now = step.entry, self.clock_us()
        if step.desired is None and entry is not None:
            return entry._replace(state=DELETING, changed_us=now)
        if step.desired is None:
            raise ValueError(f"{step.key} was never published, and is to be deleted")
        fingerprint, revision = step.desired.fingerprint, entry.revision if entry else 0
        is_again = entry is not None and entry.state == SENDING and entry.fingerprint == fingerprint
        return LedgerEntry(key_text(step.key), SENDING, step.ours, fingerprint, step.desired.visible, revision + (not is_again), now)

    def _operation(self, step: PlanStep, entry: LedgerEntry) -> Operation:
        identity = [self.installation, self.place, entry.key, entry.fingerprint, entry.revision, step.desired is None]
        body = b""
        if step.desired is not None:
            run = run_id("publication", self.installation, entry.key, entry.fingerprint, entry.revision)
            body = stamped(step.desired.event(), entry.changed_us, str(run))
        return Operation(step.action, step.key, body, digest_of(identity))

    def _record(self, steps: Sequence[PlanStep], intended: Sequence[LedgerEntry], outcomes: Sequence[Outcome]) -> None:
        entries, forgotten, now = [], [], self.clock_us()
        for step, entry, outcome in zip(steps, intended, outcomes, strict=True):
            if outcome.later:
                continue  # the next publication makes it again
            if outcome.done and step.action == DELETE:
                forgotten.append(entry.key)
            elif outcome.done:
                entries.append(entry._replace(state=PUBLISHED, changed_us=now))
            elif step.action == DELETE:
                entries.append(entry._replace(state=PUBLISHED, changed_us=now, detail=outcome.detail))
            else:
                before = step.entry.visible if step.entry else ""
                entries.append(entry._replace(state=REFUSED, visible=before, changed_us=now, detail=outcome.detail))
        self.ledger.record(self.place, entries, forgotten)


def _result(outcome: Outcome) -> str:
    return "done" if outcome.done else "failed" if outcome.later else "refused"


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, BusyError) and error.wait_s is not None:
        return min(LONGEST_ASKED_S, error.wait_s)
    return tenacity.wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT_S)(state)


def _text(error: SourceError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)
