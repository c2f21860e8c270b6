"""The JSON schemas of requests and responses, one module for each group of routes."""
