"""Observes ksqlDB servers: streams and tables are other names of topics, and persistent queries are jobs."""
