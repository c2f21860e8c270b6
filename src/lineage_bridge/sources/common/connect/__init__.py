"""Kafka Connect: the meaning of connectors' configurations and states, whichever service runs them."""
