"""JDBC addresses: the one reader for connectors, streaming SQL and the names that producers write."""
