"""One look at a cluster: topics, groups, producers, samples of records, as plain values."""
