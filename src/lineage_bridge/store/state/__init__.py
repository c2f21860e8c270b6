"""The state database, which has what is not computed from the log: the installation's key, sources, tasks."""
