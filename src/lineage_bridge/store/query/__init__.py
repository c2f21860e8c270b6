"""Questions about nodes and flows."""
