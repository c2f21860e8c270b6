"""Reads what the catalogs of targets have about the datasets of the graph into facets of their own."""
