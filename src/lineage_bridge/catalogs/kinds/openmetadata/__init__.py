"""Targets of kind openmetadata: events for its OpenLineage endpoint, or pipelines and lineage edges between its own entities."""
