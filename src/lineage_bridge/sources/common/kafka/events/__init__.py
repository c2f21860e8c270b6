"""Converts the state of a cluster to OpenLineage events."""
