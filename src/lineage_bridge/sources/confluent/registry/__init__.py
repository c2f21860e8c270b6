"""Observes the Schema Registry of each environment."""
