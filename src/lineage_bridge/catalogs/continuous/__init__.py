"""Publishes continuously to targets that follow the change feed of the graph."""
