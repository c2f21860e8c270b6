"""Derives what a Flink job reads and writes from annotations, SQL, DDL, its plan and its metrics, and converts it to facets."""
