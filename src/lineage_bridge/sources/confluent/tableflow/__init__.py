"""Observes Tableflow, which materializes topics as tables."""
