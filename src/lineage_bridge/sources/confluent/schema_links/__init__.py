"""Schema links: subjects copied from one registry to another."""
