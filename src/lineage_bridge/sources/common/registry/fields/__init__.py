"""Converts schemas in Avro, Protobuf and JSON Schema to OpenLineage's fields."""
