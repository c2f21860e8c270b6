"""Telemetry for operators: metrics, request ids and a log of requests."""
