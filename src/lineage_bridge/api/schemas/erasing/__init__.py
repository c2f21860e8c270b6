"""Requests and responses of erasures."""
