"""Amazon DataZone and SageMaker Catalog: OpenLineage events to a domain."""
