"""From a connector's configuration and other evidence to its datasets, topics and flows."""
