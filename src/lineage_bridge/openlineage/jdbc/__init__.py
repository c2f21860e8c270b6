"""Parses JDBC addresses. Connectors, streaming SQL and the names that producers write all use this parser."""
