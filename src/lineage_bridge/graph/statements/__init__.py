"""Reads the lineage facets: which sources they state for datasets and columns."""
