"""Flink: what a job reads and writes, from annotations, SQL, DDL, plan and metrics, as values and as facets."""
