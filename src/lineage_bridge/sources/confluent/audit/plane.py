"""The plane of the audit log: who changed a topic, connector, statement or schema, and who was checked for access to one."""

from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.kafka.protocol.tail import TopicTail
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.common.stepwise import Selection
from lineage_bridge.sources.confluent.audit.client import connection
from lineage_bridge.sources.confluent.audit.events import Targets, change_events
from lineage_bridge.sources.confluent.audit.parse import parse_request
from lineage_bridge.sources.confluent.audit.requests import RecentRequests
from lineage_bridge.sources.confluent.identities.plane import ORGANIZATION
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes

NAME = "audit-log"
RECORDS_PER_POLL = 200_000
FIRST_POLL_MS = 3_600_000
"""How far back the first poll reads."""


class AuditLogRead(NamedTuple):
    """What one poll read: the newest requests about each resource, and the next offset of each partition."""

    requests: RecentRequests
    offsets: Mapping[str, int]
    unseen: tuple[Unseen, ...] = ()


class AuditPlane(Plane[AuditLogRead]):
    """Reads the organization's audit log from where the last poll stopped.

    Its snapshot has `offsets` by partition, `resources` (the newest requests, by resource) and `said` (what was emitted about datasets
    and jobs).
    """

    name, stage = NAME, 6

    def unavailable_reason(self) -> str:
        """Why the audit log cannot be read: its own API key is missing. Empty if the settings have the key."""
        return "" if self.settings.audit_log else "no API key is set for the audit log (audit_log)"

    def fetch(self, before: Snapshot | None, now_us: int) -> AuditLogRead:
        """Read the records since the last poll. Raises SourceError."""
        audit_log = self.settings.audit_log
        if audit_log is None:
            raise SourceError(self.unavailable_reason())
        previous, since_ms = before or {}, now_us // 1000 - FIRST_POLL_MS
        requests = RecentRequests(previous.get("resources", {}))

        def add(value: bytes) -> None:
            request = parse_request(value)
            if request is not None:
                requests.add(request)

        with closing(TopicTail(connection(audit_log, self.settings), audit_log.topic)) as tail:
            tail.begin({int(number): offset for number, offset in previous.get("offsets", {}).items()}, since_ms)
            read = tail.read_to_end(add, RECORDS_PER_POLL)
        unseen = [Unseen(f"partition {number}", "records were deleted before they were read") for number in read.gone]
        if not read.is_whole:
            unseen.append(
                Unseen("newest events", f"more than {RECORDS_PER_POLL} events are new since the last poll; the next poll reads the rest")
            )
        return AuditLogRead(requests, {str(number): offset for number, offset in sorted(read.offsets.items())}, tuple(unseen))

    def translate(self, fetched: AuditLogRead, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return events for new changes and access checks of topics and jobs that other sources know."""
        resources = fetched.requests.newest_resources()
        targets = Targets(self._configured_part(), shared)
        events, emitted = change_events(resources, targets, (before or {}).get("said", {}), now_us)
        why = f"the first poll reads the last hour, from {format_time(now_us - FIRST_POLL_MS * 1000)} on"
        older = () if before is not None else (Unseen("older events", why),)
        snapshot = {"offsets": dict(fetched.offsets), "resources": resources, "said": emitted}
        return Observation(snapshot, tuple(events), unseen=(*fetched.unseen, *older))

    def empty_answer(self) -> AuditLogRead:
        """Return an answer without requests."""
        return AuditLogRead(RecentRequests({}), {})

    def _configured_part(self) -> Organization:
        """Return the part of the organization that the settings select. The audit log is read for all of this part, even if a poll is
        narrowed further.
        """
        return self.context.organization.narrowed(Selection(frozenset(self.settings.environments), frozenset(self.settings.clusters)))


def offsets_of(planes: Mapping[str, Snapshot]) -> dict[int, int]:
    """Return the next offset of each partition of the audit log, from the snapshots of all planes."""
    offsets = planes.get(f"{NAME} {ORGANIZATION}", {}).get("offsets", {})
    return {int(number): offset for number, offset in offsets.items()}


def planes(context: PlaneContext) -> Planes:
    """Create the audit log's plane. There is one for the whole organization."""
    yield AuditPlane(context, ORGANIZATION)
