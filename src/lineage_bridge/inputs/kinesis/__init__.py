"""Reads events from streams of Amazon Kinesis."""
