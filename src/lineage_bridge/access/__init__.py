"""Authentication and authorization: API keys, access tokens, sessions, and the principals that they stand for."""
