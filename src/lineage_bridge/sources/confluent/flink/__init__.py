"""Observes the statements and materialized tables of Flink in Confluent Cloud."""
