"""Imports nodes and edges: converts them to design-time events."""
