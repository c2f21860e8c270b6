"""The plane of ksqlDB: the streams, tables and persistent queries of a ksqlDB cluster, fetched with a key of that cluster."""

from dataclasses import replace
from typing import ClassVar

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.ksqldb.answers import KsqldbState
from lineage_bridge.sources.common.ksqldb.client import HEADERS, fetch_state
from lineage_bridge.sources.common.ksqldb.poll import KsqldbNames
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.ksqldb.translate import shared_metadata, translate
from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.namespaces import with_cluster_namespace
from lineage_bridge.sources.confluent.organization import KsqlCluster
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.settings import Credential


class KsqldbPlane(Plane[KsqldbState]):
    """Observes a ksqlDB cluster with two requests. Queries are jobs of its Kafka cluster, `ksqldb/<id of the ksqlDB cluster>/<query>`."""

    name: ClassVar[str] = "ksqldb"
    stage: ClassVar[int] = 3

    def __init__(self, context: PlaneContext, cluster: KsqlCluster) -> None:
        super().__init__(context, f"{cluster.environment}/{cluster.id}")
        self.cluster, self.namespace = cluster, f"confluent://{cluster.environment}/{cluster.kafka}"

    def unavailable_reason(self) -> str:
        """Why the cluster cannot be read: its address or its API key is missing. Empty if both are known."""
        if not self.cluster.url:
            return f"Confluent Cloud does not list an address for {self.cluster.id}"
        return "" if self._credential() else f"no API key is set for {self.cluster.id} (ksqldb)"

    def fetch(self, before: Snapshot | None, now_us: int) -> KsqldbState:
        """Fetch the server's information and its listings. Raises SourceError."""
        del before, now_us
        credential = self._credential()
        if credential is None:
            raise SourceError(self.unavailable_reason())
        answers = fetch_state(self.clients.http(self.key, self.cluster.url, credential, "ksqldb", HEADERS))
        return replace(answers, cluster=self.cluster.kafka)

    def translate(self, fetched: KsqldbState, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Convert the answers to events of streams, tables and queries, and return these with the next snapshot. Pure."""
        settings = KsqldbSettings(url=self.settings.url, interval_s=self.settings.interval_s)
        named = KsqldbNames(self.namespace, f"ksqldb://{self.cluster.id}", f"ksqldb/{self.cluster.id}/", alone=False)
        return translate(fetched, before, with_cluster_namespace(shared, self.cluster.kafka, self.namespace), now_us, settings, named)

    def empty_answer(self) -> KsqldbState:
        """Return an answer without streams, tables and queries."""
        return KsqldbState("", self.cluster.kafka, "", "", {}, {})

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the schemas that streams declare, and the consumer groups of queries."""
        return shared_metadata(snapshot)

    def _credential(self) -> Credential | None:
        return self.settings.credential("ksqldb", self.cluster.id, self.cluster.environment)


def planes(context: PlaneContext) -> Planes:
    """Create a plane for each ksqlDB cluster."""
    for cluster in context.observed.ksqldb_clusters:
        yield KsqldbPlane(context, cluster)
