"""Targets that lineage is published to."""
