"""Writes batches, erasures and rebuilds to the store."""
