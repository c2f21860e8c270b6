"""Converts log records to facts, which are rows of the relations."""
