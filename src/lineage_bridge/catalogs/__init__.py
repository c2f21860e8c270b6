"""Lineage published to other systems: what should be there, what is, and the least operations between."""
