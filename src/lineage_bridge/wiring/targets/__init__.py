"""Targets: the process that publishes, and what the API needs for them."""
