"""Converts statements of Flink SQL, Confluent's Flink SQL, ksqlDB and sqlglot's dialects to inputs, outputs and column flows."""
