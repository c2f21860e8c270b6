"""Reads what catalogs know back into the graph."""
