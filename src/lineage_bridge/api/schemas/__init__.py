"""The JSON shapes of requests and responses, one module for each group of calls."""
