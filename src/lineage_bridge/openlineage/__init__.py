"""The OpenLineage standard: events, facets, the verdict on received bytes, the masking of secrets.

Pure: no clock, no randomness, no input or output.
"""
