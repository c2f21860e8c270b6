"""Converts the state of a Kafka cluster to OpenLineage events."""
