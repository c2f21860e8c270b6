"""The audit log: who changed a topic, a connector, a statement or a schema, and who was checked for one. No edges come of it."""

import re
from collections.abc import Mapping
from contextlib import closing
from typing import Any, NamedTuple

from pydantic import ValidationError

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.kafka.events.topics import STATISTICS_EVERY_US
from lineage_bridge.sources.common.kafka.protocol.tail import TopicTail
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.audit.events import ACCESS, CHANGES, OTHER, STATEMENT, SUBJECT, TOPIC, Request, read
from lineage_bridge.sources.confluent.identities.plane import ORGANIZATION
from lineage_bridge.sources.confluent.organization import Estate
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes
from lineage_bridge.sources.confluent.settings import AuditLog, ConfluentSettings, Only
from lineage_bridge.sources.confluent.statistics import Topics

OUT = EventBuilder("https://lineagebridge.dev/sources/confluent/audit-log")
NAME = "audit-log"
FACET = "confluent_changes"
DATASET, JOB = "Dataset", "Job"
MOST = 200_000
"""Records that one poll reads."""
FIRST_MS = 3_600_000
"""How far a first poll looks back."""
_NEWEST, _RESOURCES = 10, 1_000
_ONE = {CHANGES: ("id",), ACCESS: ("method", "principal", "client", "granted")}
"""What makes two entries of a list one: of changes their ids, for the log may tell one twice; of checks who was checked for what."""
_VERSION = re.compile(r"(?P<subject>.+) version \d+, id \d+")
State = Mapping[str, Any]


class Heard(NamedTuple):
    """What was read: by resource its newest changes and checks, and the next offset by partition."""

    changes: "Changes"
    offsets: Mapping[str, int]
    unseen: tuple[Unseen, ...] = ()


class Changes:
    """The newest requests of each resource, those of `before` and those that are taken in. What was heard twice counts once.

    By resource's key: `changes` and `access`, lists of requests as JSON, newest first.
    """

    def __init__(self, before: Mapping[str, State]) -> None:
        self.of: dict[str, dict[str, list[Json]]] = {key: {part: list(state[part]) for part in _ONE} for key, state in before.items()}

    def take(self, request: Request) -> None:
        """Take in one."""
        if not request.part or request.resource.kind == OTHER:
            return
        told: Json = {
            "id": request.id,
            "at": request.time_us,
            "method": request.method,
            "principal": request.principal,
            "client": request.client,
            "granted": request.granted,
        }
        one_of = _ONE[request.part]
        state = self.of.setdefault(request.resource.key, {part: [] for part in _ONE})
        newest: dict[Any, Json] = {}
        for one in (*state[request.part], told):
            key = tuple(one[member] for member in one_of)
            newest[key] = max(newest.get(key, one), one, key=_order)
        state[request.part] = sorted(newest.values(), key=_order, reverse=True)[:_NEWEST]


class AuditPlane(Plane[Heard]):
    """The organization's audit log, which is a topic on a cluster of its own, read from where the last poll stopped.

    Its snapshot: `offsets` by partition, `resources`: of each, as `Changes` has them, and what was `said` of datasets and jobs when.
    """

    name, stage = NAME, 6

    def lacks(self) -> str:
        """The audit log has a key of its own."""
        return "" if self.settings.audit_log else "no API key of the audit log is set (audit_log)"

    def fetch(self, before: Snapshot | None, now_us: int) -> Heard:
        """Read on. Raises SourceError."""
        log = self.settings.audit_log
        if log is None:
            raise SourceError(self.lacks())
        was, since_ms = before or {}, now_us // 1000 - FIRST_MS
        changes = Changes(was.get("resources", {}))

        def take(value: bytes) -> None:
            request = read(value)
            if request is not None:
                changes.take(request)

        with closing(TopicTail(connection(log, self.settings), log.topic)) as tail:
            tail.begin({int(number): offset for number, offset in was.get("offsets", {}).items()}, since_ms)
            part = tail.read_to_end(take, MOST)
        unseen = [Unseen(f"partition {number}", "records were deleted before they were read") for number in part.gone]
        if not part.is_whole:
            unseen.append(Unseen("newest events", f"there are more than {MOST} since the last poll; the next one goes on"))
        return Heard(changes, {str(number): offset for number, offset in sorted(part.offsets.items())}, tuple(unseen))

    def tell(self, fetched: Heard, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """What is new of topics and jobs that are known; checks at most hourly."""
        targets, resources = _Targets(self._observed(), around), _kept(fetched.changes.of)
        about: dict[tuple[str, DatasetName], dict[str, list[Json]]] = {}
        for key, parts in resources.items():
            kind, names = targets.of(key)
            for name in names:
                here = about.setdefault((kind, name), {part: [] for part in _ONE})
                for part in _ONE:
                    here[part] += [{**one, "resource": _called(key)} for one in parts[part]]
        events: list[Json] = []
        said: dict[str, list[Any]] = {}
        for (kind, name), here in sorted(about.items()):
            what = f"{kind} {name[0]} {name[1]}"
            facet, said[what] = _facet(here, (before or {}).get("said", {}).get(what, ["", "", 0]), kind, around, now_us)
            facets = {FACET: facet} if facet else {}
            if facets and kind == DATASET:
                events.append(OUT.dataset_event(now_us, name, facets))
            elif facets:
                events.append(OUT.job_event(now_us, name, job_facets=facets))
        older = Unseen("older events", f"the first poll reads the last hour, from {format_time(now_us - FIRST_MS * 1000)} on")
        snapshot = {"offsets": dict(fetched.offsets), "resources": resources, "said": said}
        return Observation(snapshot, tuple(events), unseen=(*fetched.unseen, *([older] if before is None else ())))

    def nothing(self) -> Heard:
        """Nobody did anything."""
        return Heard(Changes({}), {})

    def _observed(self) -> Estate:
        """What the settings name: the log is the whole organization's, however this look is narrowed."""
        return self.around.whole.within(Only(frozenset(self.settings.environments), frozenset(self.settings.clusters)))


class _Targets:
    """What a resource is in the graph: datasets or jobs that are known."""

    def __init__(self, estate: Estate, around: SharedMetadata) -> None:
        self._estate, self._around, self._topics = estate, around, Topics(estate, around)
        self._jobs = frozenset(around.jobs.values())
        self._subjects: dict[tuple[str, str], set[DatasetName]] = {}
        environments = {one.space: one.environment for one in estate.kafka}
        for (topic, _), schema in around.schemas.items():
            for named in map(_VERSION.fullmatch, schema.version.split("; ") if topic[0] in environments else ()):
                if named:
                    self._subjects.setdefault((environments[topic[0]], named["subject"]), set()).add(topic)

    def of(self, key: str) -> tuple[str, list[DatasetName]]:
        """Whether they are a Dataset or a Job, and their names: none if it is not known."""
        kind, scope, name = key.split(" ", 2)
        if kind == TOPIC:
            return DATASET, _some(self._topics.of(scope, name))
        if kind == SUBJECT:
            environment = next((one.environment for one in self._estate.registries if one.id == scope), "")
            return DATASET, sorted(self._subjects.get((environment, name), ()))
        if kind == STATEMENT:
            return JOB, _some(self._around.jobs.get(f"{scope}/{name}"))
        cluster = self._estate.cluster(scope)
        by_name = (cluster.space, name) if cluster else None
        return JOB, _some(self._around.jobs.get(name) or (by_name if by_name in self._jobs else None))


def offsets_of(planes: Mapping[str, Snapshot]) -> dict[int, int]:
    """How far the audit log was read, by the snapshots of all planes."""
    offsets = planes.get(f"{NAME} {ORGANIZATION}", {}).get("offsets", {})
    return {int(number): offset for number, offset in offsets.items()}


def connection(log: AuditLog, settings: ConfluentSettings) -> KafkaSettings:
    """How the audit log's cluster is reached. Raises SourceError."""
    secured = log.security_protocol.startswith("SASL")
    told: dict[str, Any] = {"sasl_mechanism": "PLAIN", "username": log.key, "password": log.secret} if secured else {}
    try:
        return KafkaSettings.model_validate(
            {
                "bootstrap_servers": log.bootstrap_servers,
                "security_protocol": log.security_protocol,
                "ssl_ca_file": log.ssl_ca_file,
                "timeout_s": settings.timeout_s,
                **told,
            }
        )
    except ValidationError as error:
        raise SourceError(f"audit_log cannot be: {error.errors(include_url=False)[0]['msg']}") from error


def planes(around: Around) -> Planes:
    """One for the organization."""
    yield AuditPlane(around, ORGANIZATION)


def _order(one: Json) -> tuple[int, str]:
    return one["at"], one["id"]


def _kept(resources: Mapping[str, Mapping[str, list[Json]]]) -> dict[str, Mapping[str, list[Json]]]:
    """The resources of the newest requests, by key."""
    newest = {key: max(one["at"] for part in parts.values() for one in part) for key, parts in resources.items()}
    return {key: resources[key] for key in sorted(sorted(newest, key=lambda key: (-newest[key], key))[:_RESOURCES])}


def _facet(
    here: Mapping[str, list[Json]], said: list[Any], kind: str, around: SharedMetadata, now_us: int
) -> tuple[Json | None, list[Any]]:
    """The facet, if it is to be told, and what was told then: digests of changes and of access, and the time."""
    newest = {part: sorted(here[part], key=_order, reverse=True)[:_NEWEST] for part in _ONE}
    members = {part: [_shown(one, around) for one in newest[part]] for part in _ONE}
    changes, access = digest(members[CHANGES]), digest(sorted(_who(one) for one in newest[ACCESS]))
    late = now_us - said[2] >= STATISTICS_EVERY_US
    if changes == said[0] and (access == said[1] or not late):
        return None, said
    return OUT.own_facet("1-0-0", f"ConfluentChanges{kind}Facet", **members), [changes, access, now_us]


def _shown(one: Json, around: SharedMetadata) -> Json:
    name = around.names.get(one["principal"], "")
    shown = {"time": format_time(one["at"]), **{key: one[key] for key in ("resource", "method", "principal", "client")}, "name": name}
    return {**{key: value for key, value in shown.items() if value}, "granted": one["granted"]}


def _called(key: str) -> str:
    """A resource as readers are told of it: its kind and name."""
    kind, _, name = key.split(" ", 2)
    return f"{kind} {name}"


def _who(one: Json) -> list[Any]:
    return [one[member] for member in _ONE[ACCESS]]


def _some(name: DatasetName | None) -> list[DatasetName]:
    return [name] if name else []
