"""Flink, observed by its JobManager's REST API, the SQL gateway, and what users declare about jobs."""
