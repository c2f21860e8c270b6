"""Observes the topics of each Kafka cluster."""
