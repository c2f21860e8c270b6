"""Kafka Connect: interprets the configurations and states of connectors, whichever service runs them."""
