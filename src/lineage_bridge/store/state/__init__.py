"""What is not computed from the log: the installation's key, sources, tasks."""
