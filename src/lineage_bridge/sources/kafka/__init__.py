"""A Kafka cluster observed by its own protocol: topics, groups of all kinds, producers, offsets, access rules."""
