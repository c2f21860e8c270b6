"""The target Atlan: sends OpenLineage events to a connector of a tenant, reads jobs back, and archives those to delete."""
