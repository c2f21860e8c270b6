"""Writes processes, runs and lineage events, or OpenLineage events, by Google's API. It needs google-cloud-datacatalog-lineage."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import msgspec
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from lineage_bridge.catalogs.events import digest
from lineage_bridge.catalogs.kinds.google.connection import LineageConnection
from lineage_bridge.catalogs.kinds.google.processes import (
    DataLink,
    JobLineage,
    LinkedEntity,
    digest_of_links,
    express_event,
    express_process,
    job_lineage,
)
from lineage_bridge.catalogs.kinds.google.session import GoogleAnswerError
from lineage_bridge.catalogs.kinds.google.settings import GoogleSettings
from lineage_bridge.catalogs.target import DELETE, DONE, Expressed, Json, ObjectKey, Operation, Outcome, Target
from lineage_bridge.errors import BusyError, ForbiddenError, UnauthenticatedError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.sources.common.catalog.address import catalog_address
from lineage_bridge.sources.common.google.entity_names import process_id

RUN: Final = "lineage"
"""The id of the one run that a process has."""
_MOST: Final = 10_000
"""How many runs of a process, and lineage events of a run, are read at most."""
_STARTED, _COMPLETED = 1, 2
_PASSING: Final = frozenset((4, 8, 10, 13, 14))
"""Codes of operations that failed and may be tried again: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE."""
_RIGHTS: Final = {
    "native": "grant roles/datalineage.editor on the project",
    "events": "grant roles/datalineage.producer on the project",
}


class GoogleTarget(Target[GoogleSettings]):
    """Keeps a process for each job, with links between datasets and columns; or sends each job as a completed run."""

    catalog = "google"
    read_batch = 20
    paces_itself = True

    def __init__(self, name: str, settings: GoogleSettings, _: Path) -> None:
        super().__init__(name, settings)
        self.deletes = self.reads = settings.form == "native"
        self._connection = LineageConnection(settings, self.repeated)

    @property
    def addresses(self) -> frozenset[str]:
        """The location with the address of its API, and the other addresses that the settings name."""
        here = f"{self.settings.url} {self.settings.parent}"
        return frozenset(map(catalog_address, (here, *self.settings.read_at)))

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run. Raises InexpressibleError."""
        return express_process(event) if self.reads else express_event(event)

    def visible(self, event: Json) -> str:
        """The digest of a job's links, which can be read back; if jobs are not read back, the digest of the whole event."""
        if not self.reads:
            return digest(event)
        events = job_lineage(event, self.settings.prefix).events
        return digest_of_links(link for links in events.values() for link in links)

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The jobs that have a process in Google Data Lineage, each with the digest of its links."""
        found = {}
        for key in keys:
            process = self._process(key)
            if self._is_there(process):
                runs = self._runs(process)
                links = [link for run in runs for links in self._events(run).values() for link in links]
                found[key] = digest_of_links(links, (_id(run) for run in runs if _id(run) != RUN))
        return found

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Write or delete each job's process, or send its event."""
        return [self._write(operation) for operation in operations]

    def _write(self, operation: Operation) -> Outcome:
        try:
            if operation.action == DELETE:
                return self._deleted("delete_process", self._process(operation.key))
            event = msgspec.json.decode(operation.body)
            if not self.reads:
                return self._send(event, operation)
            return self._publish(event, operation)
        except GoogleAnswerError as error:
            found = error.outcome
            return found._replace(later=found.later or (self.reads and error.is_missing))  # deleted while it is written
        except UnauthenticatedError:
            raise
        except ForbiddenError as error:
            raise ForbiddenError(str(error), _RIGHTS[self.settings.form]) from error

    def _send(self, event: Json, operation: Operation) -> Outcome:
        try:
            message = ParseDict(event, Struct())
        except ParseError as error:
            return Outcome(False, f"cannot be sent as JSON of Google's: {error}")
        request = str(uuid5(NAMESPACE_URL, f"{operation.idempotency_key} {event['eventTime']}"))  # the same bytes count once if sent twice
        asked = {"parent": self.settings.parent, "open_lineage": message, "request_id": request}
        self._connection.call("process_open_lineage_run_event", asked)
        return DONE

    # processes

    def _publish(self, event: Json, operation: Operation) -> Outcome:
        goal, process = job_lineage(event, self.settings.prefix), self._process(operation.key)
        now = Timestamp()
        now.FromJsonString(event["eventTime"])
        if operation.returns and self._is_there(process):
            ended = self._deleted("delete_process", process)
            if not ended.done:
                return ended
        self._connection.call("update_process", {"process": {"name": process, **goal.process}, "allow_missing": True})
        run, there = f"{process}/runs/{RUN}", self._runs(process)
        end = {} if goal.is_stream else {"end_time": now}
        state = _STARTED if goal.is_stream else _COMPLETED
        made = {"name": run, "display_name": RUN, "state": state, "start_time": now, **end}
        self._connection.call("update_run", {"run": made, "allow_missing": True})
        self._put_events(run, goal, self._events(run) if _id(run) in map(_id, there) else {}, now)
        outcomes = [self._deleted("delete_run", name) for name in there if _id(name) != RUN]  # of whoever changed the process
        return next((outcome for outcome in outcomes if not outcome.done), DONE)

    def _put_events(self, run: str, goal: JobLineage, there: Mapping[str, Sequence[DataLink]], now: Timestamp) -> None:
        """Create the lineage events that a run lacks, then delete those that it should not have."""
        kept = {name for name, links in there.items() if name in goal.events and set(links) == set(goal.events[name])}
        for name in sorted((there.keys() & goal.events.keys()) - kept):
            self._connection.call("delete_lineage_event", {"name": f"{run}/lineageEvents/{name}", "allow_missing": True})
        ended = {} if goal.is_stream else {"end_time": now}
        for name in sorted(goal.events.keys() - kept):
            links = [link.as_json for link in goal.events[name]]
            made = {"name": f"{run}/lineageEvents/{name}", "links": links, "start_time": now, **ended}
            try:
                self._connection.call("create_lineage_event", {"parent": run, "lineage_event": made})
            except GoogleAnswerError as error:
                if not error.is_taken:
                    raise
        for name in sorted(there.keys() - goal.events.keys()):
            self._connection.call("delete_lineage_event", {"name": f"{run}/lineageEvents/{name}", "allow_missing": True})

    def _is_there(self, process: str) -> bool:
        try:
            self._connection.call("get_process", {"name": process})
        except GoogleAnswerError as error:
            if error.is_missing:
                return False
            raise
        return True

    def _runs(self, process: str) -> list[str]:
        """The resource names of the runs of a process."""
        return [f"{process}/runs/{_id(run.name)}" for run in islice(self._connection.listed("list_runs", process, "runs"), _MOST)]

    def _events(self, run: str) -> dict[str, list[DataLink]]:
        """The links of a run's lineage events, by their ids."""
        events = islice(self._connection.listed("list_lineage_events", run, "lineage_events"), _MOST)
        return {_id(event.name): [_link(link) for link in event.links] for event in events}

    def _process(self, key: ObjectKey) -> str:
        return f"{self.settings.parent}/processes/{process_id(key.namespace, key.name, self.settings.prefix)}"

    # deletions, which take their time

    def _deleted(self, method: str, name: str) -> Outcome:
        """Delete a process or run with everything in it, and poll until the deletion has ended."""
        started = self._connection.call(method, {"name": name, "allow_missing": True}).operation
        for question in range(1 + int(self.settings.settle_s / self.settings.poll_s)):
            if started.done:
                break
            if question:
                self.wait(self.settings.poll_s)
            started = self._connection.call("get_operation", {"name": started.name})
        if not started.done:
            return Outcome(False, "its deletion has not ended yet; settle_s says how long to wait", later=True)
        if not started.HasField("error"):
            return DONE
        text = f"its deletion failed: {started.error.message or started.error.code}"
        if started.error.code in _PASSING:
            raise BusyError(text)
        return Outcome(False, text)

    def test(self) -> list[SourceCheck]:
        """Check whether processes can be listed. Whether they can be created only shows when one is."""
        try:
            self._connection.call("list_processes", {"parent": self.settings.parent, "page_size": 1})
        except ForbiddenError as error:
            return [SourceCheck("connect", True, "Google answers"), SourceCheck("authenticate", False, str(error), error.hint)]
        found = f"processes in {self.settings.parent} can be listed"
        return [SourceCheck("connect", True, "Google answers"), SourceCheck("authenticate", True, found)]

    def close(self) -> None:
        """Close connections."""
        self._connection.close()


def _id(name: str) -> str:
    """The last part of a resource name. Only it is compared, because Google may answer with a project's number instead of its id."""
    return name.rpartition("/")[2]


def _link(found: Any) -> DataLink:  # noqa: ANN401  # the types of Google's client are made at run time
    source, target = (LinkedEntity(end.fully_qualified_name, tuple(end.field)) for end in (found.source, found.target))
    return DataLink(source, target, int(found.dependency_info.dependency_type))
