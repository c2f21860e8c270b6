"""Derives what a Flink job reads and writes from annotations, SQL, DDL, plan and metrics; as values and as facets."""
