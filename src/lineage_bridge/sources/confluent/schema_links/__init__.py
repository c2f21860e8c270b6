"""Observes schema links, which copy subjects of one registry to another."""
