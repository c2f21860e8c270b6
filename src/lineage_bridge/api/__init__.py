"""The HTTP API: routes and wire models."""
