"""Migrations of the graph store."""
