"""Observes the consumer groups and transactional producers of a cluster."""
