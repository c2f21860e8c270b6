"""What a worker answered of its connectors, as OpenLineage events."""
