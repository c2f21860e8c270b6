"""Continuous publishing: targets that follow the change feed of the graph."""
