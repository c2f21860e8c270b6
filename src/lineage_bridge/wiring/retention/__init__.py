"""Retention: what the settings let go of the graph and of the log."""
