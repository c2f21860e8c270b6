"""Reads events from topics of Kafka."""
