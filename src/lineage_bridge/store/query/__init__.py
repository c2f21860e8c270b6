"""Queries about nodes and flows."""
