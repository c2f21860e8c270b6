"""Answers questions about runs, and about the amounts that they read and wrote."""
