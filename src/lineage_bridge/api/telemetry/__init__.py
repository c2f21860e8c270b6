"""Telemetry for operators: metrics, ids of requests, and a log of requests."""
