"""Computes the state and the liveness of runs, and how much they read and wrote."""
