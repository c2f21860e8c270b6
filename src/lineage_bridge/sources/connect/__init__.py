"""Kafka Connect seen from outside: which connectors there are, and what a configuration says about datasets."""
