"""A Kafka cluster as Confluent Cloud names it, whoever else knows of it."""

from dataclasses import replace

from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata


def within(around: SharedMetadata, cluster: str, space: str) -> SharedMetadata:
    """What is known, with the cluster of this id by this namespace and no other."""
    known = next((one for one in around.clusters if (one.id, one.namespace) == (cluster, space)), ClusterMetadata(cluster, space))
    return replace(around, clusters=(known, *(one for one in around.clusters if one.id != cluster)))
