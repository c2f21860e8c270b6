"""Polls sources when they are due, keeps what each saw, and delivers what they told.

What a poll gives is kept in one transaction, snapshot and events together, before any of it is delivered: what is delivered twice has the
same bytes, and counts once.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from lineage_bridge.errors import ConfigError, LineageBridgeError, UnavailableError
from lineage_bridge.model.sources import SourceRecord, UnseenRecord
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.ports.sources import OutboxMessage, SourceRepository
from lineage_bridge.sources.common.observer import Observation, Observer, SameJob, SameNamespace, Unseen
from lineage_bridge.sources.common.settings import NO_SECRETS, Secrets, SourceSettings
from lineage_bridge.sources.runtime.debouncer import Debouncer
from lineage_bridge.sources.runtime.kinds import KINDS, Kinds
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache, make_observer, system_id

EVENTS, ALIASES = "/api/v1/lineage", "/api/v1/operations/alias"
AT_ONCE = 4
TICK_S, RETRY_S = 0.5, 5.0
LONGEST_PAUSE_S = 600.0
MOST_WAITING = 500
"""Parcels that may wait for delivery before sources are polled no more."""
_PARCEL_EVENTS, _PARCEL_BYTES = 1000, 4 << 20
log = logging.getLogger(__name__)


class Poller:
    """Polls the sources that `sources` lists, and sends parcels through `deliver`, which raises UnavailableError to be called again.

    `take` takes the turn to look at a source, or tells that another has it: then the source stays due. What is due is looked for every
    `tick_s`; nothing is, while `most_waiting` parcels wait for delivery.
    """

    def __init__(
        self,
        sources: Callable[[], Iterable[SourceRecord]],
        book: SourceRepository,
        deliver: Callable[[OutboxMessage], None],
        clock_us: Callable[[], int],
        secrets: Secrets = NO_SECRETS,
        take: Callable[[str], AbstractContextManager[bool]] = lambda _: nullcontext(True),
        kinds: Kinds = KINDS,
        tick_s: float = TICK_S,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._sources, self._book, self._deliver, self._clock_us, self._secrets = sources, book, deliver, clock_us, secrets
        self._take, self._kinds, self._tick_s, self._most_waiting = take, kinds, tick_s, most_waiting
        self._made: dict[str, tuple[object, Observer[Any]]] = {}
        self._known = MetadataCache(sources, book, secrets, kinds)
        self._stirs: dict[str, Debouncer] = {}

    def run(self, stop: threading.Event) -> None:
        """Poll and deliver until `stop`; polls under way are finished first. Raises what keeps the book from being read or written."""
        running: dict[str, Future[None]] = {}
        with ThreadPoolExecutor(AT_ONCE + 1, thread_name_prefix="poll") as pool:
            delivering = pool.submit(self._delivering, stop)
            while not stop.wait(self._tick_s):
                if delivering.done():
                    break
                running = {name: poll for name, poll in running.items() if not _ended(poll)}
                for record in self._due(running):
                    running[record.name] = pool.submit(self._in_turn, record)
            delivering.result()
        self._delivered(quiet=True)
        for _, observer in self._made.values():
            observer.close()

    def poll(self, record: SourceRecord) -> None:
        """Observe once, and keep what came of it."""
        began = self._clock_us()
        try:
            observer = self._observer(record)
            seen = observer.observe(self._known.previous_snapshot(record, observer), self._known.shared_metadata(record), began)
            self._saw(record, began, observer, seen)
        except LineageBridgeError as error:
            self._failed(record, began, str(error), error.hint)
        except Exception as error:  # the boundary: one source's fault stops no other
            log.exception("source %s", record.name)
            self._failed(record, began, f"{type(error).__name__}: {error}", "this is a fault of LineageBridge; its log says more")

    def deliver(self) -> int:
        """Send what waits; how many parcels were sent. Raises UnavailableError."""
        sent = 0
        while parcels := self._book.pending_messages(20):
            for parcel in parcels:
                self._deliver(parcel)
                self._book.remove_message(parcel.number)
                sent += 1
        return sent

    def _in_turn(self, record: SourceRecord) -> None:
        """Poll a source, unless another looks at it, or has looked since it was found to be due."""
        with self._take(record.name) as mine:
            polls = record.state.polls
            if mine and any(now.name == record.name and now.state.polls == polls for now in self._sources()):
                self._stirs.setdefault(record.name, Debouncer()).reset()
                self.poll(record)

    def _due(self, running: Mapping[str, object]) -> list[SourceRecord]:
        """The sources to be polled now. What others build upon is polled first, the first time."""
        now, every = self._clock_us(), [record for record in self._sources() if not record.state.paused]
        self._let_go({record.name for record in every} | running.keys())
        waiting = self._book.count_pending() >= self._most_waiting
        idle = [record for record in every if not waiting and record.name not in running]
        due = [record for record in idle if record.state.due_us is None or record.state.due_us <= now or self._is_stirred(record, now)]
        firsts = [self._kinds.rank(record.kind) for record in every if not record.state.polls]
        return [record for record in due if not firsts or self._kinds.rank(record.kind) <= min(firsts)]

    def _let_go(self, needed: Collection[str]) -> None:
        """Close the observers of sources that are polled no more: some watch their systems all the time."""
        for name in self._made.keys() - needed:
            self._made.pop(name)[1].close()
            self._stirs.pop(name, None)

    def _is_stirred(self, record: SourceRecord, now_us: int) -> bool:
        """Whether a source that was well has noticed changes since its last poll, and is quiet again."""
        if not record.state.polls or record.state.failures:
            return False
        try:
            observer = self._observer(record)
        except ConfigError:
            return False
        changes = observer.noticed_changes(lambda: self._known.previous_snapshot(record, observer))
        return self._stirs.setdefault(record.name, Debouncer()).is_due(changes, now_us)

    def _observer(self, record: SourceRecord) -> Observer[Any]:
        made = self._made.get(record.name)
        wanted = (record.kind, msgspec.json.encode(record.settings))
        if made is None or made[0] != wanted:
            if made is not None:
                made[1].close()
            self._made[record.name] = made = (wanted, make_observer(record.name, record.kind, record.settings, self._secrets, self._kinds))
        return made[1]

    def _saw(self, record: SourceRecord, began: int, observer: Observer[Any], seen: Observation) -> None:
        now = self._clock_us()
        state = msgspec.structs.replace(
            record.state,
            polls=record.state.polls + 1,
            failures=0,
            events=record.state.events + len(seen.events),
            due_us=max(now, began + round(observer.settings.interval_s * SECOND_US)),
            tried_us=began,
            succeeded_us=began,
            failing_since_us=None,
            took_us=now - began,
            address=system_id(record, observer),
            unseen=unseen_since(record.state.unseen, seen.unseen, began),
        )
        if not self._book.save_poll(record.name, state, encode(dict(seen.snapshot)), list(outbox_messages(seen))):
            log.info("source %s: was removed or polled by another meanwhile; nothing is kept of this poll", record.name)

    def _failed(self, record: SourceRecord, began: int, error: str, hint: str) -> None:
        failures = record.state.failures + 1
        if failures == 1:
            log.warning("source %s: %s", record.name, error)
        interval_s = _interval_s(record.settings)
        wait_s = min(interval_s * 2 ** min(failures - 1, 10), max(interval_s, LONGEST_PAUSE_S))
        state = msgspec.structs.replace(
            record.state,
            polls=record.state.polls + 1,
            failures=failures,
            due_us=self._clock_us() + round(wait_s * SECOND_US),
            tried_us=began,
            failed_us=began,
            failing_since_us=record.state.failing_since_us or began,
            error=error,
            hint=hint,
        )
        self._book.save_poll(record.name, state, None, [])

    def _delivering(self, stop: threading.Event) -> None:
        failing = False
        while not stop.wait(RETRY_S if failing else self._tick_s):
            failing = not self._delivered(quiet=failing)

    def _delivered(self, *, quiet: bool) -> bool:
        """Whether all that waits could be sent; what could not is sent later, or at the next start."""
        try:
            self.deliver()
        except UnavailableError as error:
            if not quiet:
                log.warning("what sources told cannot be delivered: %s", error)
            return False
        return True


def unseen_since(before: Iterable[UnseenRecord], now: Iterable[Unseen], now_us: int) -> tuple[UnseenRecord, ...]:
    """What cannot be seen, each with the time since when: of what could not be seen before, that of then."""
    stood = {record.what: record.since_us for record in before}
    reasons: dict[str, str] = {}
    for unseen in now:
        reasons[unseen.what] = min(reasons.get(unseen.what, unseen.why), unseen.why)
    return tuple(UnseenRecord(what, why, stood.get(what, now_us)) for what, why in sorted(reasons.items()))


def outbox_messages(seen: Observation) -> Iterable[tuple[str, bytes]]:
    """What is to be delivered of an observation: names that are one first, then events, in order, some at a time."""
    if seen.same:
        yield ALIASES, encode({"aliases": [_alias(same) for same in seen.same]})
    waiting: list[bytes] = []
    for event in map(encode, seen.events):
        if waiting and (len(waiting) >= _PARCEL_EVENTS or sum(map(len, waiting)) + len(event) > _PARCEL_BYTES):
            yield EVENTS, _array(waiting)
            waiting = []
        waiting.append(event)
    if waiting:
        yield EVENTS, _array(waiting)


def _array(events: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(events) + b"]"


def _alias(same: SameJob | SameNamespace) -> dict[str, object]:
    if isinstance(same, SameNamespace):
        return {"a": {"namespace": same.namespace}, "b": {"namespace": same.other}, "evidence": same.evidence}
    a, b = (same.namespace, same.name), (same.other_namespace, same.other_name)
    ends = {end: {"namespace": namespace, "name": name} for end, (namespace, name) in (("a", a), ("b", b))}
    return {"entity": "job", **ends, "evidence": same.evidence}


def _ended(poll: "Future[None]") -> bool:
    """Whether a poll is over. Raises what kept it from being kept: that is no source's fault, but the control store's."""
    if poll.done():
        poll.result()
    return poll.done()


def _interval_s(settings: Mapping[str, Any]) -> float:
    """Seconds between polls, also where the settings cannot be."""
    usual: float = SourceSettings.model_fields["interval_s"].default
    try:
        return float(settings.get("interval_s", usual))
    except (TypeError, ValueError):
        return usual
