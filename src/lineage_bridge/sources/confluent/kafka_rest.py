"""A Kafka cluster of Confluent Cloud by its REST API (v3), and what the planes of a cluster have in common."""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar
from urllib.parse import quote

import msgspec

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.kafka.events.builder import KafkaEventBuilder
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.confluent.organization import KafkaCluster
from lineage_bridge.sources.confluent.plane import AnyPlane, Around, FetchedT, Plane, Planes
from lineage_bridge.sources.confluent.settings import Credential

GROUPS, PRODUCERS, LINKS = "consumer-group/", "producer/", "cluster-link/"
"""What stands before the names of jobs on a cluster."""
Text = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=200_000)]
"""A number of partitions, or of one of them: no more than a cluster can have."""
Offset = Annotated[int, msgspec.Meta(ge=-1, le=2**53)]
Millis = Annotated[int, msgspec.Meta(ge=-1, le=253_402_300_799_999)]
"""Milliseconds since 1970, before the year 10000."""
_EntryT = TypeVar("_EntryT", bound=msgspec.Struct)
_AnswerT = TypeVar("_AnswerT")


class Rest:
    """Asks one cluster."""

    def __init__(self, http: HttpClient, cluster: str) -> None:
        self.http = http
        self._root = f"/kafka/v3/clusters/{cluster}"

    def get(self, kind: type[_EntryT], *parts: str, **parameters: str) -> _EntryT:
        """One object. Raises as `Http.get` does, and SourceError for an answer that is none."""
        path = self._path(parts)
        return _converted(self.http.get(path, **parameters), kind, path)

    def listed(self, kind: type[_EntryT], *parts: str, **parameters: str) -> list[_EntryT]:
        """All entries of a listing, whether it comes in pages or not. Raises as `get` does."""
        path = self._path(parts)
        found: list[_EntryT] = []
        for page in self.http.pages(path, **parameters):
            data = page.get("data") if isinstance(page, dict) else None
            if not isinstance(data, list):
                raise SourceError(f"GET {path} of {self.http.host} answered no list")
            found += [_converted(one, kind, path) for one in data]
        return found

    def of_each(self, names: Sequence[str], ask: Callable[[str], _AnswerT], what: str, failures: Failures) -> dict[str, _AnswerT]:
        """What `ask` gives of each name; one that fails is left out, and told as a part of `what`."""
        found: dict[str, _AnswerT] = {}
        for name, answer in zip(names, self.http.map(ask, names), strict=True):
            if isinstance(answer, SourceError):
                failures.add_name(what, str(answer).replace(quote(name, safe=""), "..."), name)
            else:
                found[name] = answer
        return found

    def _path(self, parts: tuple[str, ...]) -> str:
        return "/".join((self._root, *(quote(part, safe="") for part in parts)))


def _converted(said: object, kind: type[_EntryT], path: str) -> _EntryT:
    try:
        return msgspec.convert(said, kind, strict=False)
    except msgspec.ValidationError as error:
        raise SourceError(f"GET {path} answered what cannot be read: {error}") from error


class ClusterPlane(Plane[FetchedT]):
    """A plane of one Kafka cluster, asked with that cluster's API key."""

    def __init__(self, around: Around, cluster: KafkaCluster) -> None:
        super().__init__(around, cluster.scope)
        self.cluster = cluster

    def lacks(self) -> str:
        """It takes an API key of the cluster, and an address."""
        if self._credential() is None:
            return f"no API key of {self.cluster.id} is set"
        return "" if self.cluster.url else f"the address of {self.cluster.id} is not told"

    def _credential(self) -> Credential | None:
        return self.settings.credential("kafka", self.cluster.id)

    @property
    def credential(self) -> Credential:
        """The cluster's API key. Raises SourceError."""
        held = self._credential()
        if held is None:
            raise SourceError(self.lacks())
        return held

    def rest(self) -> Rest:
        """What asks the cluster. Raises SourceError."""
        return Rest(self.clients.http(self.key, self.cluster.url, self.credential, "kafka"), self.cluster.id)

    def teller(self, now_us: int) -> KafkaEventBuilder:
        """Tells of the cluster at a time."""
        return KafkaEventBuilder(self.cluster.id, self.cluster.space, now_us, self.settings.heartbeat_s, GROUPS, PRODUCERS)

    @property
    def servers(self) -> frozenset[str]:
        """The bootstrap server, if it is no other cluster's too."""
        server = self.cluster.bootstrap
        return frozenset() if not server or server in self.around.whole.shared_bootstraps else frozenset((server,))


def for_each_cluster(make: Callable[[Around, KafkaCluster], AnyPlane]) -> Callable[[Around], Planes]:
    """A plane for each Kafka cluster."""

    def planes(around: Around) -> Planes:
        for cluster in around.estate.kafka:
            yield make(around, cluster)

    return planes
