"""Service accounts, users and API keys: who is behind an id."""
