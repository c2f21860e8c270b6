"""Sets up the processes that publish to targets, and what the API needs for targets."""
