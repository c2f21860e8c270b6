"""Reads the events, accepted and rejected, of the principal's own jobs and datasets."""

from collections.abc import Callable, Sequence

from lineage_bridge.ingest.event_sender import sender_of
from lineage_bridge.model.events import EventFilter, EventRecord, QuarantineCounts, QuarantineRecord
from lineage_bridge.ports.graph_reader import EventReader
from lineage_bridge.visibility.border import Border
from lineage_bridge.visibility.paging import page_of


class LimitedEvents:
    """Implements ports.EventReader. `lists` is a reader limited to the principal's namespaces."""

    def __init__(self, events: EventReader, lists: EventReader, border: Border) -> None:
        self._events, self._lists, self._border = events, lists, border

    def page(self, which: EventFilter) -> list[EventRecord]:
        """The events of own jobs, and those of own datasets that have no job."""
        return self._lists.page(which)

    def of_run(self, run_id: str, limit: int | None = None) -> list[EventRecord]:
        """The events of a run, if its job is the principal's own."""
        return self._lists.of_run(run_id, limit)

    def quarantine(self, code: str | None, limit: int, offset: int, event: bytes | None = None) -> list[QuarantineRecord]:
        """The rejected events of own jobs, if the job is named in the beginning of the event's text."""
        return page_of(lambda most, start: self._events.quarantine(code, most, start, event), self._own, limit, offset)

    def _own(self, records: Sequence[QuarantineRecord]) -> list[QuarantineRecord]:
        return [record for record in records if self._is_own(record.sample)]

    def _is_own(self, sample: str) -> bool:
        return self._border.visibility.owns(sender_of(sample.encode("utf-8", "replace")).namespace)

    def quarantine_counts(self, of: Callable[[str], bool] | None = None) -> QuarantineCounts:
        """The numbers of rejected events of own jobs, by reason, among the newest of all."""
        return self._events.quarantine_counts(lambda sample: self._is_own(sample) and (of is None or of(sample)))
