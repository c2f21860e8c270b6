"""Managed connectors."""
