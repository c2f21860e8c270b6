"""The migrations of the graph store's schema."""
