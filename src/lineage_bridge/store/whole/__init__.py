"""Reads the whole graph at once, for the inventory, export and analysis."""
