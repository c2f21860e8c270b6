"""Observes clusters of Kafka Connect: their connectors, and the datasets that these read and write."""
