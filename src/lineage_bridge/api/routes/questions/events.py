"""Routes for events, as they were sent."""

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET, Raw

from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import Mended, Offset, RunId, all_names, page_of_texts, parse_time_argument, position_header
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import raw_json_list
from lineage_bridge.api.schemas.lineage import RunEvent, SentEvent
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, OffsetError, RecordError, RequestError
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.model.events import EventFilter, EventRecord
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.log import RecordReader

Text = Annotated[str, Mended]
Glob = Annotated[Text | None, Query(description="Glob: * any text, ? any character, [...] one of these")]
DatasetName = Annotated[
    Text | None, Query(description="A dataset's name, exactly: only events that named it, the first and the last of each run and day")
]
Moment = Annotated[str | None, Query(description="RFC 3339; UTC if it has no zone")]
RunLimit = Annotated[int, Query(ge=1, le=10_000)]
Records = Annotated[bool, Query(description="Include the sender, channel and arrival time of each event")]
UNREADABLE_HEADER = "X-Lineage-Unreadable-Events"
"""The response header with the number of events that are missing because the log cannot be read at their offsets."""
_NOT_FOUND = {404: ErrorAnswer}


def routes(services: Services) -> APIRouter:
    """The routes for events."""
    router = question_router(services, "lineage", "/lineage")
    either = (list[RunEvent], list[SentEvent])

    @router.get("/events", response_model=None, responses=response_docs({200: either, **_NOT_FOUND}, writes=False))
    def get_events(
        request: Request,
        namespace: Glob = None,
        job: Glob = None,
        dataset_namespace: Annotated[Text | None, Query(description="The namespace of a dataset, exactly")] = None,
        dataset: DatasetName = None,
        since: Moment = None,
        until: Moment = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        offset: Offset = 0,
        order: Literal["asc", "desc"] = "desc",
        records: Records = False,
    ) -> Response:
        """Events by their jobs, a dataset that they name, and their times, as they were sent."""
        times = parse_time_argument("since", since), parse_time_argument("until", until)
        if (dataset_namespace is None) != (dataset is None):
            raise RequestError("one of `dataset_namespace` and `dataset` is missing", "send both, or neither")
        with services.graph() as reader:
            named = all_names(reader.nodes, dataset_namespace, dataset)
            which = EventFilter(namespace, job, *times, order == "asc", limit + 1, offset, named)
            stored = _StoredEvents(services.records, as_records=records)
            bodies, link = page_of_texts(request, reader.events.page(which), stored.text, (limit, offset), services.max_page_bytes)
            return raw_json_list(bodies, {**link, **stored.header(), **position_header(reader.progress)})

    @router.get("/events/{run_id:path}", response_model=None, responses=response_docs({200: either, **_NOT_FOUND}, writes=False))
    def get_run_events(request: Request, run_id: RunId, limit: RunLimit = 1000, offset: Offset = 0, records: Records = False) -> Response:
        """The events of a run, oldest first, as they were sent. `run_id` may be the id as it was sent, or its UUID."""
        with services.graph() as reader:
            events = reader.events.of_run(run_id, offset + limit + 1)
            if not events:
                raise NotFoundError(f"no event of run {run_id!r} was received", "GET /api/v1/graph/runs lists the runs of a job")
            stored = _StoredEvents(services.records, as_records=records)
            bodies, link = page_of_texts(request, events[offset:], stored.text, (limit, offset), services.max_page_bytes)
            return raw_json_list(bodies, {**link, **stored.header(), **position_header(reader.progress)})

    return router


class _StoredEvents:
    """Reads events as they were sent, and counts those that the log has lost. With `as_records`, also reads the senders."""

    def __init__(self, log: RecordReader, *, as_records: bool) -> None:
        self._log, self._lost, self._as_records = log, 0, as_records

    def text(self, event: EventRecord) -> bytes | None:
        """The event as JSON; None if it was erased, or if the log cannot be read at its offset."""
        try:
            stored = self._log.record_at(event.address)
        except (RecordError, OffsetError):
            self._lost += 1
            return None
        if stored.kind != RecordKind.EVENT:
            return None
        if not self._as_records:
            return stored.body
        arrived_at, body = format_time(stored.arrival_us), Raw(stored.body)
        return msgspec.json.encode(SentEvent(event.event.hex(), stored.channel, arrived_at, body, stored.principal or UNSET))

    def header(self) -> dict[str, str]:
        """The header with the number of events that the log has lost, if any."""
        return {UNREADABLE_HEADER: str(self._lost)} if self._lost else {}
