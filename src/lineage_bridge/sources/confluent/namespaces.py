"""Namespaces of Confluent Cloud's Kafka clusters, and the users' topics in them. Pure."""

from dataclasses import replace

from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.kafka.look.purposes import SYSTEM, purpose
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.organization import Organization


def with_cluster_namespace(shared: SharedMetadata, cluster: str, namespace: str) -> SharedMetadata:
    """Return shared metadata in which this cluster has only this namespace, whichever source contributed it."""
    found = (metadata for metadata in shared.clusters if (metadata.id, metadata.namespace) == (cluster, namespace))
    own = next(found, ClusterMetadata(cluster, namespace))
    return replace(shared, clusters=(own, *(metadata for metadata in shared.clusters if metadata.id != cluster)))


class UserTopics:
    """The topics of users, as opposed to system topics. If a cluster has a list of topics, a topic that is not in it is unknown."""

    def __init__(self, organization: Organization, shared: SharedMetadata) -> None:
        self.namespaces = {cluster.id: cluster.namespace for cluster in organization.kafka_clusters}
        clusters = (cluster for cluster in shared.clusters if cluster.id in self.namespaces and cluster.topics is not None)
        self._listed = {cluster.id: cluster.topics for cluster in clusters}

    def find(self, cluster: str, name: str) -> DatasetName | None:
        """Return the dataset of a topic; None for unknown topics and system topics."""
        namespace, listed = self.namespaces.get(cluster), self._listed.get(cluster)
        if namespace is None or not name or purpose(name) in SYSTEM or (listed is not None and name not in listed):
            return None
        return namespace, name
