"""An organization of Confluent Cloud as a source: discovery, then all planes of what there is."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import msgspec

from lineage_bridge.errors import ConfigError, SourceError, StoppedError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Check, Observation, Observer, SameJob, SameNamespace, Snapshot, SourceKind, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata, merge_metadata
from lineage_bridge.sources.confluent.audit.plane import NAME as AUDIT_LOG
from lineage_bridge.sources.confluent.audit.plane import offsets_of
from lineage_bridge.sources.confluent.audit.watch import Watch
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.organization import Estate, discover
from lineage_bridge.sources.confluent.plane import AnyPlane, Around
from lineage_bridge.sources.confluent.planes import planes_of
from lineage_bridge.sources.confluent.settings import ALL, ConfluentSettings, Only

DISCOVERY = "discovery"
AT_ONCE = 64
"""Planes that are asked at the same time: most of them wait for the limits of their keys."""
OBSERVED, PARTLY, FAILED, NOT_OBSERVED, SKIPPED, GONE = "observed", "partly", "failed", "not_observed", "skipped", "gone"
log = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """How a plane fared. `key` is plane and scope; `state` one of the above; `why`: what is unknown and the reason. Times in us."""

    key: str
    state: str
    why: tuple[str, ...] = ()
    events: int = 0
    requests: int = 0
    took_us: int = 0


class Step(NamedTuple):
    """A plane that was told. `observation`: the snapshot and what is unseen are the whole source's so far, the events are this plane's."""

    key: str
    outcome: Outcome
    observation: Observation


class _Fetched(NamedTuple):
    value: Any
    took_us: int


def _ignore(_: Outcome) -> None:
    pass


class ConfluentObserver(Observer[ConfluentSettings]):
    """Watches an organization, or the environments and clusters of it that the settings name."""

    def __init__(self, name: str, settings: ConfluentSettings) -> None:
        super().__init__(name, settings)
        self.clients = Clients(settings)
        self._watch: Watch | None = None

    def test(self) -> Iterator[Check]:
        """Discovery, then each plane's own calls."""
        try:
            estate, unseen = discover(self.control(), None, self._narrowed(ALL))
        except SourceError as error:
            yield Check("environments", False, str(error), error.hint)
            return
        told = f"{len(estate.environments)} environments, {len(estate.kafka)} Kafka clusters"
        yield Check("environments", True, told)
        for part in unseen:
            yield Check(part.what, False, part.why)
        planes, now_us = planes_of(self.planes_around(estate, ALL)), time.time_ns() // 1000
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="plane") as pool:
            for plane, fetch in [(plane, pool.submit(_fetch, plane, None, now_us)) for plane in planes]:
                yield _checked(plane, fetch)

    def observe(self, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """Look once; see Observer."""
        events: list[Json] = []
        same: list[SameJob | SameNamespace] = []
        last = Observation({})
        for step in self.steps(before, around, now_us):
            last = step.observation
            events += last.events
            same += last.same
        return replace(last, events=tuple(events), same=tuple(same))

    def steps(
        self,
        before: Snapshot | None,
        around: SharedMetadata,
        now_us: int,
        *,
        only: Only = ALL,
        done: Collection[str] = (),
        told: Callable[[Outcome], None] = _ignore,
        stop: threading.Event | None = None,
    ) -> Iterator[Step]:
        """Look once, plane by plane. `only` narrows it; planes whose keys are `done` are passed over.

        Each step can be kept by itself: a look that ends in the middle has told what its steps told. `told` hears of each plane as its
        fetching ends, in any order. `stop` ends it soon, between two calls; then what was not asked is skipped. Raises SourceError.
        """
        self.clients.begin(stop or threading.Event())
        look = _Look(self, before or {}, around, now_us, self._narrowed(only))
        yield look.discovery()
        yield from look.planes(frozenset(done), told)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """What all planes know of what they last saw."""
        if "estate" not in snapshot:
            return NO_METADATA
        estate = msgspec.convert(snapshot["estate"], Estate)
        planes = planes_of(self.planes_around(estate, ALL))
        return merge_metadata(plane.know(snapshot["planes"][plane.key]) for plane in planes if plane.key in snapshot["planes"])

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        """How many changes the audit log has told of since the last poll before it was asked first."""
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
        """Let go of connections."""
        if self._watch is not None:
            self._watch.close()
        self.clients.close()

    def _narrowed(self, only: Only) -> Only:
        """Of what the settings and the caller narrow it to, both."""
        told = self.settings
        envs, clusters = frozenset(told.environments), frozenset(told.clusters)
        return Only(_both(envs, only.environments), _both(clusters, only.clusters), frozenset(told.off) | only.off)

    def planes_around(self, whole: Estate, only: Only) -> Around:
        """What the planes of an estate, narrowed, are made of."""
        narrowed = self._narrowed(only)
        settings = self.settings.model_copy(update={"off": tuple(sorted(narrowed.off))})
        return Around(whole.within(narrowed), whole, self.clients, settings)

    def control(self) -> HttpClient:
        """The client of the control plane. Raises SourceError."""
        if self.settings.cloud is None:
            raise SourceError("no Cloud API key is set, so environments cannot be listed", "set cloud = {key, secret}")
        return self.clients.http(DISCOVERY, self.settings.url, self.settings.cloud, "cloud")


class _Look:
    """One observation under way."""

    def __init__(self, observer: ConfluentObserver, before: Snapshot, around: SharedMetadata, now_us: int, only: Only) -> None:
        self.observer, self.now_us, self.only = observer, now_us, only
        self.before = msgspec.convert(before["estate"], Estate) if "estate" in before else None
        self.estate = self.before or Estate()
        self.snapshots: dict[str, Snapshot] = dict(before.get("planes", {}))
        self.unseen: dict[str, list[list[str]]] = {key: list(told) for key, told in before.get("unseen", {}).items()}
        self.same: list[str] = list(before.get("same", ()))
        self.outside = around
        self.known: dict[str, SharedMetadata] = {}
        self.sent = observer.clients.requests

    def discovery(self) -> Step:
        """What there is. Raises SourceError if that cannot be told, now or from before."""
        began, http = time.monotonic_ns(), self.observer.control()
        sent = http.requests
        try:
            found, unseen = discover(http, self.before, self.only)
        except SourceError as error:
            if self.before is None:
                raise
            found, unseen = self.before, (Unseen("environments", str(error)),)
        if self.before and found.organization and self.before.organization not in ("", found.organization):
            told = f"the key is of another organization now: {found.organization}, it was {self.before.organization}"
            raise SourceError(told, "remove the source and add it again if that is meant")
        self.estate = found
        shared = [
            Unseen(f"bootstrap server {server}", "several clusters have it, so events that name it alone tell no cluster")
            for server in sorted(found.shared_bootstraps)
        ]
        same = [one for one in self._spaces() if one.namespace not in self.same]
        self.same += [one.namespace for one in same]
        state = PARTLY if unseen else OBSERVED
        took = (time.monotonic_ns() - began) // 1000
        why = tuple(f"{part.what}: {part.why}" for part in unseen)
        outcome = Outcome(DISCOVERY, state, why, 0, http.requests - sent, took)
        return Step(DISCOVERY, outcome, self._observation(DISCOVERY, (), (*unseen, *shared), same))

    def planes(self, done: Collection[str], told: Callable[[Outcome], None]) -> Iterator[Step]:
        """Each plane's step, in order; those of scopes that are gone first."""
        around = self.observer.planes_around(self.estate, self.only)
        every = planes_of(around)
        keys = {plane.key for plane in every}
        spaces = frozenset([*(one.space for one in self.estate.kafka), *(one.space for one in self.estate.registries)])
        outside = _without(self.outside, spaces, frozenset(one.id for one in self.estate.kafka))
        gone = self._gone(keys)
        for plane in (*gone, *planes_of(self.observer.planes_around(self.estate, ALL))):
            if plane.key in self.snapshots:
                self.known[plane.key] = plane.know(self.snapshots[plane.key])
        for plane in gone:
            yield self._told(plane, plane.nothing(), merge_metadata([outside, *self.known.values()]), is_gone=True)
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="plane") as pool:
            wanted = [plane for plane in every if plane.key not in done]
            fetches = {
                plane.key: pool.submit(_fetch, plane, self.snapshots.get(plane.key), self.now_us) for plane in wanted if not plane.lacks()
            }
            for key, fetch in fetches.items():
                fetch.add_done_callback(partial(_hear, told, key))
            try:
                yield from self._stages(wanted, fetches, outside)
            finally:
                for fetch in fetches.values():
                    fetch.cancel()

    def _stages(self, wanted: list[AnyPlane], fetches: dict[str, "Future[_Fetched]"], outside: SharedMetadata) -> Iterator[Step]:
        stage, known = -1, NO_METADATA
        for plane in wanted:
            if plane.stage != stage:
                stage, known = plane.stage, merge_metadata([outside, *self.known.values()])
            if lacking := plane.lacks():
                yield self._lost(plane, NOT_OBSERVED, lacking)
                continue
            try:
                fetched = fetches.pop(plane.key).result()
            except StoppedError:
                yield Step(plane.key, Outcome(plane.key, SKIPPED), self._so_far())
            except (SourceError, ConfigError) as error:
                yield self._lost(plane, FAILED, str(error))
            except Exception as error:  # the boundary: one plane's fault stops no other
                log.exception("plane %s of source %s", plane.key, self.observer.name)
                yield self._lost(plane, FAILED, f"{type(error).__name__}: a fault of LineageBridge; its log says more")
            else:
                yield self._told(plane, fetched.value, known, took_us=fetched.took_us)

    def _told(self, plane: AnyPlane, value: object, known: SharedMetadata, *, is_gone: bool = False, took_us: int = 0) -> Step:
        before = self.snapshots.get(plane.key)
        try:
            seen: Observation = plane.tell(value, before, known, self.now_us)
            if not is_gone:
                self.known[plane.key] = plane.know(seen.snapshot)
        except Exception as error:  # the boundary: one plane's fault stops no other
            log.exception("plane %s of source %s", plane.key, self.observer.name)
            return self._lost(plane, FAILED, f"{type(error).__name__}: a fault of LineageBridge; its log says more")
        if is_gone:
            del self.snapshots[plane.key]
            self.known.pop(plane.key, None)
        else:
            self.snapshots[plane.key] = seen.snapshot
        unseen = () if is_gone else tuple(Unseen(f"{plane.key}: {part.what}", part.why) for part in seen.unseen)
        state = GONE if is_gone else PARTLY if unseen else OBSERVED
        why = tuple(f"{part.what}: {part.why}" for part in seen.unseen)
        requests = self._requests(plane)
        outcome = Outcome(plane.key, state, why, len(seen.events), requests, took_us)
        return Step(plane.key, outcome, self._observation(plane.key, seen.events, unseen, seen.same))

    def _lost(self, plane: AnyPlane, state: str, why: str) -> Step:
        """A plane of which nothing can be said: what was known of it stays."""
        requests = self._requests(plane)
        outcome = Outcome(plane.key, state, (why,), 0, requests)
        return Step(plane.key, outcome, self._observation(plane.key, (), (Unseen(plane.key, why),), ()))

    def _observation(
        self, key: str, events: Iterable[Json], unseen: Collection[Unseen], same: Iterable[SameJob | SameNamespace]
    ) -> Observation:
        self.unseen.pop(key, None)
        if unseen:
            self.unseen[key] = [list(part) for part in unseen]
        return replace(self._so_far(), events=tuple(events), same=tuple(same))

    def _so_far(self) -> Observation:
        """The snapshot, and what is unseen, as they stand."""
        snapshot = {
            "estate": msgspec.to_builtins(self.estate),
            "planes": dict(self.snapshots),
            "unseen": dict(sorted(self.unseen.items())),
            "same": list(self.same),
        }
        every = tuple(Unseen(*part) for _, parts in sorted(self.unseen.items()) for part in parts)
        return Observation(snapshot, unseen=every)

    def _requests(self, plane: AnyPlane) -> int:
        return self.observer.clients.requests.get(plane.key, 0) - self.sent.get(plane.key, 0)

    def _spaces(self) -> list[SameNamespace]:
        """Each cluster's namespaces by its id and by its bootstrap server, where that is no other cluster's."""
        shared = self.estate.shared_bootstraps
        return [
            SameNamespace(
                one.space, f"kafka://{one.bootstrap}", f"Confluent Cloud tells {one.bootstrap} as the bootstrap server of {one.id}"
            )
            for one in self.estate.kafka
            if one.bootstrap and one.bootstrap not in shared
        ]

    def _gone(self, keys: Collection[str]) -> list[AnyPlane]:
        """The planes of before whose scopes are no more, the last told first."""
        if self.before is None:
            return []
        still = {plane.key for plane in planes_of(self.observer.planes_around(self.estate, ALL))} | set(keys)
        earlier = planes_of(self.observer.planes_around(self.before, ALL))
        return [plane for plane in reversed(earlier) if plane.key not in still and plane.key in self.snapshots]


def _fetch(plane: AnyPlane, before: Snapshot | None, now_us: int) -> _Fetched:
    if lacking := plane.lacks():
        raise SourceError(lacking)
    began = time.monotonic_ns()
    value = plane.fetch(before, now_us)
    return _Fetched(value, (time.monotonic_ns() - began) // 1000)


def _fetching(key: str, ended: "Future[_Fetched]") -> Outcome:
    """How the fetching of a plane ended."""
    if ended.cancelled():
        return Outcome(key, SKIPPED)
    error = ended.exception()
    return Outcome(key, FAILED, (str(error),)) if error else Outcome(key, OBSERVED, took_us=ended.result().took_us)


def _hear(told: Callable[[Outcome], None], key: str, ended: "Future[_Fetched]") -> None:
    told(_fetching(key, ended))


def _checked(plane: AnyPlane, fetch: "Future[_Fetched]") -> Check:
    try:
        seen = fetch.result().value
    except (SourceError, ConfigError) as error:
        return Check(plane.key, False, str(error), error.hint)
    unseen: tuple[Unseen, ...] = tuple(getattr(seen, "unseen", ()))
    return Check(plane.key, not unseen, "; ".join(f"{part.what}: {part.why}" for part in unseen) or "answered")


def _both(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """What is in both, where an empty set is everything."""
    if some and others:
        return (some & others) or frozenset(("(none)",))
    return some or others


def _without(known: SharedMetadata, spaces: frozenset[str], clusters: frozenset[str]) -> SharedMetadata:
    """Knowledge of others: what a poll before has told of these clusters is told anew."""
    schemas: Mapping[Any, Any] = {key: schema for key, schema in known.schemas.items() if key[0][0] not in spaces}
    return replace(
        known,
        clusters=tuple(one for one in known.clusters if one.id not in clusters),
        schemas=schemas,
        owners={group: job for group, job in known.owners.items() if group[0] not in clusters},
        tags={name: tags for name, tags in known.tags.items() if name[0] not in spaces},
        described=frozenset(name for name in known.described if name[0] not in spaces),
    )


KIND = SourceKind(
    ConfluentSettings, ConfluentObserver, "Confluent Cloud: clusters, topics, connectors, ksqlDB, Flink, schemas, Tableflow and more"
)
