"""Reads what facets say about a node: its schema versions and its search terms."""
