"""Reads the audit log of Confluent Cloud: reports who changed what, and lets sources poll early after changes."""
