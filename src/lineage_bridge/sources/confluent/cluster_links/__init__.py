"""Cluster links: topics mirrored from one cluster to another."""
