"""Talks to Kafka brokers: logs in, sends requests, and reads records."""
