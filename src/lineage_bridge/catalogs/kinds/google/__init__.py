"""The target Google Data Lineage: jobs become processes with links between datasets, or are sent as OpenLineage events."""
