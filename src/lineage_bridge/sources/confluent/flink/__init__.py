"""Flink statements and materialized tables."""
