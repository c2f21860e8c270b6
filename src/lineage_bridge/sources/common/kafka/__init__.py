"""Kafka: its protocol, the poll of a cluster, and its events."""
