"""Service accounts, users and API keys: the names for ids."""
