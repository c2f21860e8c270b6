"""Reads the names of service accounts, users and API keys, which other answers only mention by id."""
