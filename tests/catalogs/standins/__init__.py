"""Stand-ins for catalogs that cannot be run here. Each refuses what the real one refuses."""
