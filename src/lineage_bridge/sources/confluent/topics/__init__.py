"""Topics of each Kafka cluster."""
