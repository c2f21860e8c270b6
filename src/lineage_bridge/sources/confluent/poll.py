"""Polls an organization once: lists its resources, then fetches all planes concurrently and translates them in order."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import msgspec

from lineage_bridge.conversion import convert
from lineage_bridge.errors import ConfigError, SourceError, StoppedError
from lineage_bridge.model.tasks import PlaneRecord
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Observation, SameJob, SameNamespace, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata, merge_metadata
from lineage_bridge.sources.common.stepwise import FAILED, GONE, NOT_OBSERVED, OBSERVED, PARTLY, SKIPPED, PlaneStep, Selection
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.discovery import discover
from lineage_bridge.sources.confluent.hints import DISCOVERY, error_hint
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sources.confluent.plane import AnyPlane
from lineage_bridge.sources.confluent.planes import PlaneFactory

CONCURRENT_PLANES = 64
"""Planes that are fetched at the same time: most of them wait for the rate limits of their keys."""
log = logging.getLogger(__name__)
_INTERNAL_ERROR = "plane %s of source %s: unexpected error"


class Fetched(NamedTuple):
    """The answers that a plane fetched, and how long that took."""

    value: Any
    took_us: int


class OrganizationPoll:
    """One poll of an organization. `before` is the source's previous snapshot; `shared` the metadata of all sources.

    The snapshot that is built up has: `estate`, the organization; `planes`, the snapshot of each plane by its key; `unseen`, by key what
    could not be observed; `same`, the namespaces for which an alias was already reported (with the server, if it is an access point). A
    plane that fails keeps its previous snapshot.
    """

    def __init__(
        self, source: str, clients: Clients, planes: PlaneFactory, before: Snapshot, shared: SharedMetadata, now_us: int, only: Selection
    ) -> None:
        self._source, self._clients, self._planes, self._now_us = source, clients, planes, now_us
        self._only = only
        self._before = convert(before["estate"], Organization) if "estate" in before else None
        self._organization = self._before or Organization()
        self._snapshots: dict[str, Snapshot] = dict(before.get("planes", {}))
        self._unseen: dict[str, list[list[str]]] = {key: list(entries) for key, entries in before.get("unseen", {}).items()}
        self._same: list[str] = list(before.get("same", ()))
        self._outside = shared
        self._metadata: dict[str, SharedMetadata] = {}
        self._requests_before = clients.requests

    def discover(self) -> PlaneStep:
        """List the organization's resources. Raises SourceError if they cannot be listed and were never listed before."""
        began, http = time.monotonic_ns(), self._clients.control_plane()
        sent = http.requests
        try:
            found, unseen = discover(http, self._before, self._planes.selection(self._only))
        except SourceError as error:
            error.hint = error_hint(DISCOVERY, error)
            if self._before is None:
                raise
            found, unseen = self._before, (Unseen("environments", str(error), error.hint),)
        self._check_same_organization(found)
        self._organization = found
        reason = "several clusters have this bootstrap server, so events that only name the server cannot be attributed to a cluster"
        shared = [Unseen(f"bootstrap server {server}", reason) for server in sorted(found.shared_bootstraps)]
        aliases = [(key, alias) for key, alias in self._namespace_aliases() if key not in self._same]
        self._same += [key for key, _ in aliases]
        same = [alias for _, alias in aliases]
        state = PARTLY if unseen else OBSERVED
        took = (time.monotonic_ns() - began) // 1000
        why = tuple(f"{entry.what}: {entry.why}" for entry in unseen)
        outcome = PlaneRecord(DISCOVERY, state, why, 0, http.requests - sent, took, _hints(unseen))
        return PlaneStep(outcome, self._observation(DISCOVERY, (), (*unseen, *shared), same))

    def steps(self, done: Collection[str], on_progress: Callable[[PlaneRecord], None]) -> Iterator[PlaneStep]:
        """Yield the result of each plane in order. Planes of scopes that no longer exist come first."""
        planes = self._planes.create(self._organization, self._only)
        everywhere = self._planes.create(self._organization)
        outside = self._without_own(self._outside)
        gone = self._gone_planes({plane.key for plane in (*planes, *everywhere)})
        for plane in (*gone, *everywhere):
            if plane.key in self._snapshots:
                self._metadata[plane.key] = plane.shared_metadata(self._snapshots[plane.key])
        for plane in gone:
            yield self._translate(plane, plane.empty_answer(), merge_metadata([outside, *self._metadata.values()]), is_gone=True)
        pending = [plane for plane in planes if plane.key not in done]
        with ThreadPoolExecutor(CONCURRENT_PLANES, thread_name_prefix="plane") as pool:
            futures = {
                plane.key: pool.submit(fetch, plane, self._snapshots.get(plane.key), self._now_us)
                for plane in pending
                if not plane.unavailable_reason()
            }
            for key, future in futures.items():
                future.add_done_callback(partial(_report, on_progress, key))
            try:
                yield from self._stages(pending, futures, outside)
            finally:
                for future in futures.values():
                    future.cancel()

    def _stages(self, planes: list[AnyPlane], futures: dict[str, "Future[Fetched]"], outside: SharedMetadata) -> Iterator[PlaneStep]:
        stage, shared = -1, NO_METADATA
        for plane in planes:
            if plane.stage != stage:
                stage, shared = plane.stage, merge_metadata([outside, *self._metadata.values()])
            if reason := plane.unavailable_reason():
                yield self._failure(plane, NOT_OBSERVED, reason, plane.unavailable_hint())
                continue
            try:
                fetched = futures.pop(plane.key).result()
            except StoppedError:
                yield PlaneStep(PlaneRecord(plane.key, SKIPPED), self._so_far())
            except (SourceError, ConfigError) as error:
                yield self._failure(plane, FAILED, str(error), error_hint(plane.name, error))
            except Exception as error:  # the boundary: one plane's bug stops no other
                log.exception(_INTERNAL_ERROR, plane.key, self._source)
                yield self._failure(plane, FAILED, _why_internal(error))
            else:
                yield self._translate(plane, fetched.value, shared, took_us=fetched.took_us)

    def _translate(self, plane: AnyPlane, value: object, shared: SharedMetadata, *, is_gone: bool = False, took_us: int = 0) -> PlaneStep:
        before = self._snapshots.get(plane.key)
        try:
            seen: Observation = plane.translate(value, before, shared, self._now_us)
            if not is_gone:
                self._metadata[plane.key] = plane.shared_metadata(seen.snapshot)
        except Exception as error:  # the boundary: one plane's bug stops no other
            log.exception(_INTERNAL_ERROR, plane.key, self._source)
            return self._failure(plane, FAILED, _why_internal(error))
        if is_gone:
            del self._snapshots[plane.key]
            self._metadata.pop(plane.key, None)
        else:
            self._snapshots[plane.key] = seen.snapshot
        unseen = () if is_gone else tuple(entry._replace(what=f"{plane.key}: {entry.what}") for entry in seen.unseen)
        state = GONE if is_gone else PARTLY if unseen else OBSERVED
        why = tuple(f"{entry.what}: {entry.why}" for entry in seen.unseen)
        outcome = PlaneRecord(plane.key, state, why, len(seen.events), self._requests(plane), took_us, _hints(seen.unseen))
        return PlaneStep(outcome, self._observation(plane.key, seen.events, unseen, seen.aliases))

    def _failure(self, plane: AnyPlane, state: str, why: str, hint: str = "") -> PlaneStep:
        """Return the result of a plane that could not be observed: it keeps its previous snapshot."""
        unseen = (Unseen(plane.key, why, hint),)
        outcome = PlaneRecord(plane.key, state, (why,), 0, self._requests(plane), hints=_hints(unseen))
        return PlaneStep(outcome, self._observation(plane.key, (), unseen, ()))

    def _observation(
        self, key: str, events: Iterable[Json], unseen: Collection[Unseen], same: Iterable[SameJob | SameNamespace]
    ) -> Observation:
        self._unseen.pop(key, None)
        if unseen:
            self._unseen[key] = [list(entry) for entry in unseen]
        return replace(self._so_far(), events=tuple(events), aliases=tuple(same))

    def _so_far(self) -> Observation:
        """Return the snapshot as built so far, and what could not be observed so far."""
        snapshot = {
            "estate": msgspec.to_builtins(self._organization),
            "planes": dict(self._snapshots),
            "unseen": dict(sorted(self._unseen.items())),
            "same": list(self._same),
        }
        unseen = tuple(Unseen(*entry) for _, entries in sorted(self._unseen.items()) for entry in entries)
        return Observation(snapshot, unseen=unseen)

    def _requests(self, plane: AnyPlane) -> int:
        return self._clients.requests.get(plane.key, 0) - self._requests_before.get(plane.key, 0)

    def _check_same_organization(self, found: Organization) -> None:
        if self._before and found.id and self._before.id not in ("", found.id):
            message = f"the Cloud API key belongs to the organization '{found.id}', but the source observed '{self._before.id}' before"
            raise SourceError(message, "if this is intended, remove the source and add it again")

    def _namespace_aliases(self) -> list[tuple[str, SameNamespace]]:
        """Return aliases between the namespace with a cluster's id and those with its servers, except servers of several clusters;
        each with its key in the snapshot.
        """
        shared = self._organization.shared_bootstraps
        found: list[tuple[str, SameNamespace]] = []
        for cluster in self._organization.kafka_clusters:
            for server in cluster.servers:
                is_main = server == cluster.bootstrap
                role = "the bootstrap server" if is_main else "an access point"
                alias = SameNamespace(cluster.namespace, f"kafka://{server}", f"Confluent Cloud lists {server} as {role} of {cluster.id}")
                if server not in shared:
                    found.append((cluster.namespace if is_main else f"{cluster.namespace} {server}", alias))
        return found

    def _gone_planes(self, existing: Collection[str]) -> list[AnyPlane]:
        """Return the planes of the previous poll whose scopes no longer exist, in reverse order of translation."""
        if self._before is None:
            return []
        earlier = self._planes.create(self._before)
        return [plane for plane in reversed(earlier) if plane.key not in existing and plane.key in self._snapshots]

    def _without_own(self, shared: SharedMetadata) -> SharedMetadata:
        """Return shared metadata without what earlier polls of this source contributed, because the planes contribute it again."""
        organization = self._organization
        clusters = frozenset(cluster.id for cluster in organization.kafka_clusters)
        namespaces = frozenset(cluster.namespace for cluster in organization.kafka_clusters)
        namespaces |= frozenset(registry.namespace for registry in organization.registries)
        schemas: Mapping[Any, Any] = {key: schema for key, schema in shared.schemas.items() if key[0][0] not in namespaces}
        return replace(
            shared,
            clusters=tuple(cluster for cluster in shared.clusters if cluster.id not in clusters),
            schemas=schemas,
            owners={group: job for group, job in shared.owners.items() if group[0] not in clusters},
            tags={name: tags for name, tags in shared.tags.items() if name[0] not in namespaces},
            described=frozenset(name for name in shared.described if name[0] not in namespaces),
        )


def _hints(unseen: Iterable[Unseen]) -> tuple[str, ...]:
    """The distinct hints in the reports of what could not be observed."""
    return tuple(dict.fromkeys(entry.hint for entry in unseen if entry.hint))


def _why_internal(error: Exception) -> str:
    return f"{type(error).__name__}: internal error of LineageBridge; see its log"


def fetch(plane: AnyPlane, before: Snapshot | None, now_us: int) -> Fetched:
    """Fetch the answers of a plane, and measure the time. Raises SourceError if the plane is unavailable."""
    if reason := plane.unavailable_reason():
        raise SourceError(reason)
    began = time.monotonic_ns()
    value = plane.fetch(before, now_us)
    return Fetched(value, (time.monotonic_ns() - began) // 1000)


def _report(on_progress: Callable[[PlaneRecord], None], key: str, future: "Future[Fetched]") -> None:
    if future.cancelled():
        on_progress(PlaneRecord(key, SKIPPED))
        return
    error = future.exception()
    on_progress(PlaneRecord(key, FAILED, (str(error),)) if error else PlaneRecord(key, OBSERVED, took_us=future.result().took_us))
