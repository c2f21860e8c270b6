"""A Kafka cluster observed over its own protocol: topics, groups of all kinds, producers, offsets, rights."""
