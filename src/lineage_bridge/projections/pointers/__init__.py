"""References to other places: the pages of systems' consoles, and the sources that could report missing amounts."""
