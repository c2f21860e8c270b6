"""Google Data Lineage: jobs as processes with links between datasets, or as OpenLineage events."""
