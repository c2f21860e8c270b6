"""Parses statements of streaming SQL: the objects that they define, read and write."""
