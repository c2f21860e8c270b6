"""Who may: API keys, and the principals that they stand for."""
