"""Observes a Kafka cluster through Kafka's protocol: topics, groups of all kinds, producers, offsets, access rules."""
