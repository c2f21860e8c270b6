"""Polls a cluster: topics, groups, producers and samples of records, as plain values."""
