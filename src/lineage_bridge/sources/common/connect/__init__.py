"""Kafka Connect: what connectors' configurations and states mean, whoever observes them."""
