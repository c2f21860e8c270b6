"""Queries about runs and amounts."""
