"""Converts log records to facts: rows of the relations."""
