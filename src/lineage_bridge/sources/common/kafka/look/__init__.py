"""Polls a Kafka cluster: its topics, groups and producers, and samples of records."""
