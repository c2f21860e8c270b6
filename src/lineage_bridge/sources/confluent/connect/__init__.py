"""Observes the managed connectors of Confluent Cloud."""
