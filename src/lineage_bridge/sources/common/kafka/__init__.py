"""Kafka: its protocol, a look at a cluster, and the events that come of it."""
