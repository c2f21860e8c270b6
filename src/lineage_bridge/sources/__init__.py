"""Observers of other systems: what each fetches, and how that becomes OpenLineage events."""
