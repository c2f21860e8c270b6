"""Schema Registry."""
