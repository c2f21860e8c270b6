"""Replays single message transforms, which change the names of topics and the fields of records, forwards and backwards."""
