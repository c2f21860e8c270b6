"""Reads SQL queries of jobs, as far as that is needed to read events."""
