"""Runs: their state, their liveness, and how much they read and wrote."""
