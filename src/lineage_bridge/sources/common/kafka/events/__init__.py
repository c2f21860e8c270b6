"""What was seen of a cluster, as OpenLineage events."""
