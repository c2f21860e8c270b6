"""Observes Kafka Connect: its connectors, and the datasets in their configurations."""
