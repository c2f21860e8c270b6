"""Flink: its JobManager's REST API, the SQL gateway, and what the user says of jobs, to lineage."""
