"""The HTTP API: its routes, and the schemas of its requests and responses."""
