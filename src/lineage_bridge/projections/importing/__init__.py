"""Importing: nodes and edges as design-time events."""
