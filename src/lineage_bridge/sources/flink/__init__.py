"""Flink jobs, observed through the JobManager's REST API, the SQL gateway and the users' annotations."""
