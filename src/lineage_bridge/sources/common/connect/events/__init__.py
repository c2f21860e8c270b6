"""The state of connectors as OpenLineage events."""
