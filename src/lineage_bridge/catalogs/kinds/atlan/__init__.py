"""Atlan: OpenLineage events to a connector of a tenant, read back and archived by its API of assets."""
