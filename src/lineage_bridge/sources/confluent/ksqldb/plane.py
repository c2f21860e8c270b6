"""The plane of ksqlDB: the streams, tables and persistent queries of one ksqlDB cluster, asked with a key of it."""

from dataclasses import replace
from typing import ClassVar

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.ksqldb.answers import KsqldbState
from lineage_bridge.sources.common.ksqldb.client import HEADERS, fetch_state
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.ksqldb.translate import KsqldbNames, shared_metadata, translate
from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.namespaces import within
from lineage_bridge.sources.confluent.organization import KsqlCluster
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes
from lineage_bridge.sources.confluent.settings import Credential


class KsqldbPlane(Plane[KsqldbState]):
    """A ksqlDB cluster: two requests. Queries are jobs of its Kafka cluster, `ksqldb/<id of the ksqlDB cluster>/<query>`."""

    name: ClassVar[str] = "ksqldb"
    stage: ClassVar[int] = 3

    def __init__(self, around: Around, cluster: KsqlCluster) -> None:
        super().__init__(around, f"{cluster.environment}/{cluster.id}")
        self.cluster, self.space = cluster, f"confluent://{cluster.environment}/{cluster.kafka}"

    def lacks(self) -> str:
        """See Plane."""
        if not self.cluster.url:
            return f"{self.cluster.id} has no address"
        return "" if self._credential() else f"no key of {self.cluster.id} is set (ksqldb)"

    def fetch(self, before: Snapshot | None, now_us: int) -> KsqldbState:
        """See Plane."""
        del before, now_us
        credential = self._credential()
        if credential is None:
            raise SourceError(self.lacks())
        said = fetch_state(self.clients.http(self.key, self.cluster.url, credential, "ksqldb", HEADERS))
        return replace(said, cluster=self.cluster.kafka)

    def tell(self, fetched: KsqldbState, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """See Plane."""
        settings = KsqldbSettings(url=self.settings.url, interval_s=self.settings.interval_s)
        named = KsqldbNames(self.space, f"ksqldb://{self.cluster.id}", f"ksqldb/{self.cluster.id}/", alone=False)
        return translate(fetched, before, within(around, self.cluster.kafka, self.space), now_us, settings, named)

    def nothing(self) -> KsqldbState:
        """See Plane."""
        return KsqldbState("", self.cluster.kafka, "", "", {}, {})

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """Declared schemas, and whose the queries' consumer groups are."""
        return shared_metadata(snapshot)

    def _credential(self) -> Credential | None:
        return self.settings.credential("ksqldb", self.cluster.id, self.cluster.environment)


def planes(around: Around) -> Planes:
    """One for each ksqlDB cluster."""
    for cluster in around.estate.ksqldb:
        yield KsqldbPlane(around, cluster)
