"""Speeds of LineageBridge, printed and never asserted: `python -m bench`. docs/benchmarks.md explains each figure."""
