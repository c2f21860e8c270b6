"""Events from topics of Kafka."""
