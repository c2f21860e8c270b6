"""Tableflow: topics that are materialized as tables."""
