"""Polls sources when they are due, stores the results, and delivers their events.

The result of a poll is stored in one transaction, snapshot and events together, before anything is delivered: an event that is delivered
twice has the same bytes both times, and is recorded once.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from lineage_bridge.errors import ConfigError, LineageBridgeError, UnavailableError
from lineage_bridge.model.sources import SourceRecord, SourceState, UnseenRecord
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.ports.sources import OutboxMessage, SourceRepository
from lineage_bridge.sources.common.observer import Observation, Observer, SameJob, SameNamespace, Unseen
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext, SourceSettings
from lineage_bridge.sources.runtime.debouncer import Debouncer
from lineage_bridge.sources.runtime.kinds import KINDS, SourceKinds
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache, make_observer, system_id
from lineage_bridge.tracing import TraceSpan, span

EVENTS, ALIASES = "/api/v1/lineage", "/api/v1/operations/alias"
AT_ONCE = 4
TICK_S, RETRY_S = 0.5, 5.0
LONGEST_PAUSE_S = 600.0
MOST_PENDING = 500
_MESSAGE_EVENTS, _MESSAGE_BYTES = 1000, 4 << 20
log = logging.getLogger(__name__)


class Poller:
    """Polls the sources that `sources` lists, and sends their messages through `deliver`. If `deliver` raises UnavailableError, the message
    is sent again later.

    `hold_source` locks a source for a poll; if another process holds its lock, the source stays due. The poller looks for due sources
    every `tick_s` seconds, but polls none while `most_pending` messages wait for delivery.
    """

    def __init__(
        self,
        sources: Callable[[], Iterable[SourceRecord]],
        repository: SourceRepository,
        deliver: Callable[[OutboxMessage], None],
        clock_us: Callable[[], int],
        context: SourceContext = NO_CONTEXT,
        hold_source: Callable[[str], AbstractContextManager[bool]] = lambda _: nullcontext(True),
        kinds: SourceKinds = KINDS,
        tick_s: float = TICK_S,
        most_pending: int = MOST_PENDING,
    ) -> None:
        self._sources, self._repository, self._deliver, self._clock_us = sources, repository, deliver, clock_us
        self._context, self._kinds = context, kinds
        self._hold_source, self._tick_s, self._most_pending = hold_source, tick_s, most_pending
        self._observers: dict[str, tuple[object, Observer[Any]]] = {}
        self._metadata = MetadataCache(sources, repository, context, kinds)
        self._debouncers: dict[str, Debouncer] = {}

    def run(self, stop: threading.Event) -> None:
        """Poll and deliver until `stop` is set. Polls that are running then are finished first. Raises errors of the repository."""
        running: dict[str, Future[None]] = {}
        with ThreadPoolExecutor(AT_ONCE + 1, thread_name_prefix="poll") as pool:
            delivering = pool.submit(self._keep_delivering, stop)
            while not stop.wait(self._tick_s):
                if delivering.done():
                    break
                running = {name: poll for name, poll in running.items() if not _is_done(poll)}
                for record in self._due(running):
                    running[record.name] = pool.submit(self.poll_locked, record)
            delivering.result()
        self._try_delivering(quiet=True)
        for _, observer in self._observers.values():
            observer.close()

    def poll(self, record: SourceRecord) -> None:
        """Poll a source once, and store the result."""
        with span("poll source", {"lineage_bridge.source": record.name, "lineage_bridge.kind": record.kind}) as polling:
            self._poll(record, polling)

    def _poll(self, record: SourceRecord, polling: TraceSpan) -> None:
        began = self._clock_us()
        try:
            observer = self._observer(record)
            seen = observer.observe(self._metadata.previous_snapshot(record, observer), self._metadata.shared_metadata(record), began)
            self._save_observation(record, began, observer, seen)
        except LineageBridgeError as error:
            polling.fail(type(error).__name__)
            self._save_failure(record, began, str(error), error.hint)
        except Exception as error:  # a boundary: a fault in one source must not stop the others
            polling.fail(type(error).__name__)
            log.exception("source %s: unexpected error", record.name)
            self._save_failure(record, began, f"{type(error).__name__}: {error}", "this is a fault of LineageBridge; see its log")

    def deliver(self) -> int:
        """Send all pending messages, and return how many were sent. Raises UnavailableError."""
        sent = 0
        while messages := self._repository.pending_messages(20):
            for message in messages:
                self._deliver(message)
                self._repository.remove_message(message.number)
                sent += 1
        return sent

    def poll_locked(self, record: SourceRecord) -> None:
        """Poll a source, unless another process polls it or has polled it since it was found to be due."""
        with self._hold_source(record.name) as held:
            polls = record.state.polls
            if held and any(now.name == record.name and now.state.polls == polls for now in self._sources()):
                self._debouncers.setdefault(record.name, Debouncer()).reset()
                self.poll(record)

    def _due(self, running: Mapping[str, object]) -> list[SourceRecord]:
        """Return the sources to poll now. Among sources that were never polled, those on which others depend come first."""
        now, every = self._clock_us(), [record for record in self._sources() if not record.state.paused]
        self._close_unneeded({record.name for record in every} | running.keys())
        is_full = self._repository.count_pending() >= self._most_pending
        idle = [record for record in every if not is_full and record.name not in running]
        due = [record for record in idle if _is_due(record.state, now) or self._has_settled(record, now)]
        new = [self._kinds.rank(record.kind) for record in every if not record.state.polls]
        return [record for record in due if not new or self._kinds.rank(record.kind) <= min(new)]

    def _close_unneeded(self, needed: Collection[str]) -> None:
        """Close the observers of sources that are no longer polled, because some watch their systems continuously."""
        for name in self._observers.keys() - needed:
            self._observers.pop(name)[1].close()
            self._debouncers.pop(name, None)

    def _has_settled(self, record: SourceRecord, now_us: int) -> bool:
        """Whether a healthy source has noticed changes since its last poll, and no more changes arrive."""
        if not record.state.polls or record.state.failures:
            return False
        try:
            observer = self._observer(record)
        except ConfigError:
            return False
        changes = observer.noticed_changes(lambda: self._metadata.previous_snapshot(record, observer))
        return self._debouncers.setdefault(record.name, Debouncer()).is_due(changes, now_us)

    def _observer(self, record: SourceRecord) -> Observer[Any]:
        kept = self._observers.get(record.name)
        basis = (record.kind, msgspec.json.encode(record.settings))
        if kept is None or kept[0] != basis:
            if kept is not None:
                kept[1].close()
            self._observers[record.name] = kept = (
                basis,
                make_observer(record.name, record.kind, record.settings, self._context, self._kinds),
            )
        return kept[1]

    def _save_observation(self, record: SourceRecord, began: int, observer: Observer[Any], seen: Observation) -> None:
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
        if not self._repository.save_poll(record.name, state, encode(dict(seen.snapshot)), list(outbox_messages(seen))):
            log.info("source %s was removed, or polled by another process, during this poll; the poll is discarded", record.name)

    def _save_failure(self, record: SourceRecord, began: int, error: str, hint: str) -> None:
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
        self._repository.save_poll(record.name, state, None, [])

    def _keep_delivering(self, stop: threading.Event) -> None:
        failing = False
        while not stop.wait(RETRY_S if failing else self._tick_s):
            failing = not self._try_delivering(quiet=failing)

    def _try_delivering(self, *, quiet: bool) -> bool:
        """Send all pending messages. Returns whether this succeeded. If not, the remaining messages are sent later."""
        try:
            self.deliver()
        except UnavailableError as error:
            if not quiet:
                log.warning("the events of sources cannot be delivered: %s", error)
            return False
        return True


def unseen_since(before: Iterable[UnseenRecord], now: Iterable[Unseen], now_us: int) -> tuple[UnseenRecord, ...]:
    """Return what cannot be observed, each with the time since when. An entry that the previous poll also had keeps its time."""
    earlier = {record.what: record.since_us for record in before}
    reasons: dict[str, str] = {}
    for unseen in now:
        reasons[unseen.what] = min(reasons.get(unseen.what, unseen.why), unseen.why)
    return tuple(UnseenRecord(what, why, earlier.get(what, now_us)) for what, why in sorted(reasons.items()))


def outbox_messages(seen: Observation) -> Iterable[tuple[str, bytes]]:
    """Return the messages that deliver an observation, as pairs of path and body: aliases first, then the events in order, in batches."""
    if seen.aliases:
        yield ALIASES, encode({"aliases": [_alias(same) for same in seen.aliases]})
    batch: list[bytes] = []
    for event in map(encode, seen.events):
        if batch and (len(batch) >= _MESSAGE_EVENTS or sum(map(len, batch)) + len(event) > _MESSAGE_BYTES):
            yield EVENTS, _array(batch)
            batch = []
        batch.append(event)
    if batch:
        yield EVENTS, _array(batch)


def _array(events: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(events) + b"]"


def _alias(same: SameJob | SameNamespace) -> dict[str, object]:
    if isinstance(same, SameNamespace):
        return {"a": {"namespace": same.namespace}, "b": {"namespace": same.other}, "evidence": same.evidence}
    a, b = (same.namespace, same.name), (same.other_namespace, same.other_name)
    ends = {end: {"namespace": namespace, "name": name} for end, (namespace, name) in (("a", a), ("b", b))}
    return {"entity": "job", **ends, "evidence": same.evidence}


def _is_due(state: SourceState, now_us: int) -> bool:
    """Whether it is time to poll a source. It is also time if the clock was set back since the last poll, because the time since then is
    unknown.
    """
    return state.due_us is None or state.due_us <= now_us or (state.tried_us or 0) > now_us


def _is_done(poll: "Future[None]") -> bool:
    """Whether a poll has ended. If its result could not be stored, its error is raised, because that is a fault of the repository, not
    of the source.
    """
    if poll.done():
        poll.result()
    return poll.done()


def _interval_s(settings: Mapping[str, Any]) -> float:
    """Return the seconds between polls; the default if the setting is invalid."""
    usual: float = SourceSettings.model_fields["interval_s"].default
    try:
        return float(settings.get("interval_s", usual))
    except (TypeError, ValueError):
        return usual
