"""The state of a cluster as OpenLineage events."""
