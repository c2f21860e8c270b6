"""Runs: their state, whether they still live, and how much they read and wrote."""
