"""Batches, erasures and rebuilds written to the store."""
