"""Derives a connector's datasets, topics and flows from its configuration and other evidence."""
