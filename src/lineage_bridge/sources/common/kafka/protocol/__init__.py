"""Requests to brokers, logging in, and reading records."""
