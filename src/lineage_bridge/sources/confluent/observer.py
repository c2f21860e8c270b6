"""The observer of Confluent Cloud. It discovers the resources of an organization, then polls all planes."""

import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from lineage_bridge.conversion import convert
from lineage_bridge.errors import ConfigError, SourceError
from lineage_bridge.model.tasks import PlaneRecord
from lineage_bridge.sources.common.observer import Check, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata, merge_metadata
from lineage_bridge.sources.common.stepwise import EVERYTHING, PlaneStep, Selection, StepwiseKind, StepwiseObserver, ignore_plane
from lineage_bridge.sources.confluent.audit.plane import NAME as AUDIT_LOG
from lineage_bridge.sources.confluent.audit.plane import offsets_of
from lineage_bridge.sources.confluent.audit.watch import Watch
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.discovery import discover
from lineage_bridge.sources.confluent.extraction_options import HOW_TO_ADD, apply_options, is_self_contained
from lineage_bridge.sources.confluent.hints import DISCOVERY, error_hint
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sources.confluent.plane import AnyPlane
from lineage_bridge.sources.confluent.planes import PLANE_FACTORIES, Factory, PlaneFactory
from lineage_bridge.sources.confluent.poll import CONCURRENT_PLANES, Fetched, OrganizationPoll, fetch
from lineage_bridge.sources.confluent.settings import ConfluentSettings


class ConfluentObserver(StepwiseObserver[ConfluentSettings]):
    """Observes an organization, or those environments and clusters of it that the settings select."""

    def __init__(self, name: str, settings: ConfluentSettings, factories: tuple[Factory, ...] = PLANE_FACTORIES) -> None:
        super().__init__(name, settings)
        self.clients = Clients(settings)
        self._planes = PlaneFactory(settings, self.clients, factories)
        self._watch: Watch | None = None

    def test(self) -> Iterator[Check]:
        """Try to list the organization's resources, then try the calls of each plane."""
        try:
            organization, unseen = discover(self.clients.control_plane(), None, self._planes.selection())
        except SourceError as error:
            yield Check("environments", False, str(error), error_hint(DISCOVERY, error))
            return
        counts = f"{len(organization.environments)} environments, {len(organization.kafka_clusters)} Kafka clusters"
        yield Check("environments", True, counts)
        for entry in unseen:
            yield Check(entry.what, False, entry.why, entry.hint)
        planes, now_us = self._planes.create(organization), time.time_ns() // 1000
        with ThreadPoolExecutor(CONCURRENT_PLANES, thread_name_prefix="plane") as pool:
            for plane, future in [(plane, pool.submit(fetch, plane, None, now_us)) for plane in planes]:
                yield _check(plane, future)

    def steps(
        self,
        before: Snapshot | None,
        shared: SharedMetadata,
        now_us: int,
        *,
        only: Selection = EVERYTHING,
        done: Collection[str] = (),
        on_progress: Callable[[PlaneRecord], None] = ignore_plane,
        stop: threading.Event | None = None,
    ) -> Iterator[PlaneStep]:
        """Poll once, and yield the result of each plane, as StepwiseObserver requires."""
        self.clients.start_poll(stop or threading.Event())
        poll = OrganizationPoll(self.name, self.clients, self._planes, before or {}, shared, now_us, only)
        yield poll.discover()
        yield from poll.steps(frozenset(done), on_progress)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """The shared metadata of all planes."""
        if "estate" not in snapshot:
            return NO_METADATA
        planes = self._planes.create(convert(snapshot["estate"], Organization))
        return merge_metadata(plane.shared_metadata(snapshot["planes"][plane.key]) for plane in planes if plane.key in snapshot["planes"])

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        """Return the number of changes in the audit log since this observer began to watch the log. Watching begins at the first call,
        where the last poll stopped.
        """
        audit_log = self.settings.audit_log
        if audit_log is None or AUDIT_LOG in self.settings.off:
            return 0
        if self._watch is None:
            snapshot = before()
            if snapshot is None:
                return 0
            self._watch = Watch(self.settings, audit_log, offsets_of(snapshot["planes"]))
        return self._watch.changes

    def close(self) -> None:
        """Close all connections."""
        if self._watch is not None:
            self._watch.close()
        self.clients.close()


def _check(plane: AnyPlane, future: "Future[Fetched]") -> Check:
    if reason := plane.unavailable_reason():
        return Check(plane.key, False, reason, plane.unavailable_hint(), skipped=True)
    try:
        fetched = future.result().value
    except (SourceError, ConfigError) as error:
        return Check(plane.key, False, str(error), error_hint(plane.name, error))
    unseen: tuple[Unseen, ...] = tuple(getattr(fetched, "unseen", ()))
    hints = dict.fromkeys(entry.hint for entry in unseen if entry.hint)
    return Check(plane.key, not unseen, "; ".join(f"{entry.what}: {entry.why}" for entry in unseen) or "answered", "; ".join(hints))


KIND = StepwiseKind(
    ConfluentSettings,
    ConfluentObserver,
    "Confluent Cloud: clusters, topics, connectors, ksqlDB, Flink, schemas, Tableflow and more",
    apply_options,
    is_self_contained,
    HOW_TO_ADD,
)
