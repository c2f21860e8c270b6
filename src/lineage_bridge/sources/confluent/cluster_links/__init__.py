"""Observes cluster links, which mirror topics of one cluster to another."""
