"""Tableflow: topics that are tables of a catalog."""
