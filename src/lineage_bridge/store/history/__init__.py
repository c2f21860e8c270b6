"""The graph at an earlier time, and what changed since."""
