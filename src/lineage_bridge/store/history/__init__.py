"""Answers about the graph at an earlier time, and about what has changed since."""
