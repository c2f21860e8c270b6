"""Retention: which runs and events are old and carry nothing that the graph still needs, and their removal."""
