"""Kafka's protocol, the poll of a cluster, and the events about it."""
