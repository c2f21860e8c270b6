"""Computes the shapes of runs, and from these the flows between datasets."""
