"""Reads those parts of jobs' SQL queries that are needed to interpret events."""
