"""The target Amazon DataZone or SageMaker Catalog: sends OpenLineage events to a domain."""
