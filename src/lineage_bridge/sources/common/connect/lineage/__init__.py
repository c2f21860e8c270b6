"""Derives the datasets, topics and flows of a connector from its configuration and other evidence."""
