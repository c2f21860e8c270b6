"""Observes ksqlDB clusters of Confluent Cloud."""
