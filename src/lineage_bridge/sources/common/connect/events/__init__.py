"""Converts the state of connectors to OpenLineage events."""
