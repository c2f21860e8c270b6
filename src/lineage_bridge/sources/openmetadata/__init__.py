"""The kind of sources `openmetadata`, which observes the tables and topics of OpenMetadata and their lineage."""
