"""Converts schemas in Avro, Protobuf and JSON Schema to the fields of OpenLineage's schema facet."""
