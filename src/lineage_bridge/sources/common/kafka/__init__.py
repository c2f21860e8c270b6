"""Kafka clusters: the protocol, one poll of a cluster, and the events that follow from it."""
