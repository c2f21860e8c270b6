"""Questions about runs and amounts."""
