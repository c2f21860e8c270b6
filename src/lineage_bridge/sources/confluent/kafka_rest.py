"""The REST API (v3) of a Kafka cluster of Confluent Cloud, and the base class for planes of a cluster."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import quote

import msgspec
from typing_extensions import NamedTuple

from lineage_bridge.conversion import convert
from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.kafka.events.builder import KafkaEventBuilder
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.confluent.clients import page_entries
from lineage_bridge.sources.confluent.organization import KafkaCluster
from lineage_bridge.sources.confluent.plane import AnyPlane, FetchedT, Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.settings import Credential

GROUP_JOB, PRODUCER_JOB, LINK_JOB = "consumer-group/", "producer/", "cluster-link/"
"""Prefixes of job names on a cluster."""
Text = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=200_000)]
"""A partition count or number, limited to what a cluster can have."""
Offset = Annotated[int, msgspec.Meta(ge=-1, le=2**53)]
Millis = Annotated[int, msgspec.Meta(ge=-1, le=253_402_300_799_999)]
"""Milliseconds since 1970, before the year 10000."""
_ADDRESS = "check that the address is that of the cluster's REST API"
_EntryT = TypeVar("_EntryT", bound=msgspec.Struct)
_AnswerT = TypeVar("_AnswerT")


class Unreadable(NamedTuple):
    """An entry of a listing that cannot be read."""

    entry: Mapping[str, Any]
    error: SourceError


class Listing(NamedTuple, Generic[_EntryT]):
    """The entries of a listing that can be read, and the others."""

    entries: list[_EntryT]
    unreadable: list[Unreadable]

    def record_unreadable(self, what: str, failures: Failures) -> None:
        """Add the entries that cannot be read to `failures`, under the name `what` of the listing."""
        if self.unreadable:
            count = len(self.unreadable)
            failures.add_listing(what, f"{count} {'entry' if count == 1 else 'entries'} cannot be read: {self.unreadable[0].error}")


class KafkaRest:
    """Calls the REST API of one Kafka cluster."""

    def __init__(self, http: HttpClient, cluster: str) -> None:
        self.http = http
        self._root = f"/kafka/v3/clusters/{cluster}"

    def get(self, kind: type[_EntryT], *parts: str, **parameters: str) -> _EntryT:
        """Fetch one object. Raises the errors of `HttpClient.get`, and SourceError for an answer of an unexpected shape."""
        path = self._path(parts)
        return _converted(self.http.get(path, **parameters), kind, path)

    def list_all(self, kind: type[_EntryT], *parts: str, **parameters: str) -> list[_EntryT]:
        """Fetch all entries of a listing, whether it is paged or not. Raises the errors of `get`."""
        listing = self.list_readable(kind, *parts, **parameters)
        if listing.unreadable:
            raise listing.unreadable[0].error
        return listing.entries

    def list_readable(self, kind: type[_EntryT], *parts: str, **parameters: str) -> "Listing[_EntryT]":
        """Fetch all entries of a listing, whether it is paged or not: those that can be read, and the others. Raises the errors of
        `HttpClient.get`.
        """
        path = self._path(parts)
        listing = Listing[_EntryT]([], [])
        for page in self.http.pages(path, **parameters):
            for entry in page_entries(page, f"GET {path} of {self.http.host}"):
                answer = _try_to_convert(entry, kind, path)
                if isinstance(answer, SourceError):
                    listing.unreadable.append(Unreadable(entry if isinstance(entry, Mapping) else {}, answer))
                else:
                    listing.entries.append(answer)
        return listing

    def fetch_each(self, names: Sequence[str], fetch: Callable[[str], _AnswerT], what: str, failures: Failures) -> dict[str, _AnswerT]:
        """Call `fetch` for each name, and return the results by name. Names for which it fails are left out, and recorded in
        `failures` under `what`.
        """
        found: dict[str, _AnswerT] = {}
        for name, answer in zip(names, self.http.map(fetch, names), strict=True):
            if isinstance(answer, SourceError):
                failures.add_name(what, str(answer).replace(quote(name, safe=""), "..."), name)
            else:
                found[name] = answer
        return found

    def _path(self, parts: tuple[str, ...]) -> str:
        return "/".join((self._root, *(quote(part, safe="") for part in parts)))


def _converted(answer: object, kind: type[_EntryT], path: str) -> _EntryT:
    try:
        return convert(answer, kind, strict=False)
    except msgspec.ValidationError as error:
        raise SourceError(f"GET {path} returned an unexpected answer: {error}", _ADDRESS) from error


def _try_to_convert(answer: object, kind: type[_EntryT], path: str) -> _EntryT | SourceError:
    try:
        return _converted(answer, kind, path)
    except SourceError as error:
        return error


class ClusterPlane(Plane[FetchedT]):
    """A plane of one Kafka cluster, which is fetched with an API key of that cluster."""

    def __init__(self, context: PlaneContext, cluster: KafkaCluster) -> None:
        super().__init__(context, cluster.scope)
        self.cluster = cluster

    def unavailable_reason(self) -> str:
        """Why the cluster cannot be read: its API key or its address is missing. Empty if both are known."""
        if self._credential() is None:
            return f"no API key is set for {self.cluster.id}"
        return "" if self._url else f"Confluent Cloud does not list an address for {self.cluster.id}"

    def unavailable_hint(self) -> str:
        """A hint what to set: an API key, or an address, if Confluent Cloud does not list one."""
        return super().unavailable_hint() or ("" if self._url else "set the cluster's address in `kafka_urls`")

    @property
    def _url(self) -> str:
        return self.settings.kafka_urls.get(self.cluster.id) or self.cluster.url

    def _credential(self) -> Credential | None:
        return self.settings.credential("kafka", self.cluster.id)

    @property
    def credential(self) -> Credential:
        """The API key of the cluster. Raises SourceError if there is none."""
        credential = self._credential()
        if credential is None:
            raise SourceError(self.unavailable_reason())
        return credential

    def rest(self) -> KafkaRest:
        """The client of the cluster's REST API. Raises SourceError."""
        return KafkaRest(self.clients.http(self.key, self._url, self.credential, "kafka"), self.cluster.id)

    def event_builder(self, now_us: int) -> KafkaEventBuilder:
        """Return a builder of events about the cluster, dated at this time."""
        return KafkaEventBuilder(self.cluster.id, self.cluster.namespace, now_us, self.settings.heartbeat_s, GROUP_JOB, PRODUCER_JOB)

    @property
    def bootstrap_servers(self) -> frozenset[str]:
        """The servers of the cluster that no other cluster has."""
        return frozenset(self.cluster.servers) - self.context.organization.shared_bootstraps


def for_each_cluster(create: Callable[[PlaneContext, KafkaCluster], AnyPlane]) -> Callable[[PlaneContext], Planes]:
    """Return a function that creates a plane for each observed Kafka cluster."""

    def planes(context: PlaneContext) -> Planes:
        for cluster in context.observed.kafka_clusters:
            yield create(context, cluster)

    return planes
