"""The graph store in PostgreSQL: its dialect, its schema and its connections."""
