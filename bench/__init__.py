"""Speeds of LineageBridge, printed and never asserted: `python -m bench`. docs/benchmarks.md tells what each figure means."""
