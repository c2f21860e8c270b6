"""The catalogue of connector classes: how each names its datasets and topics in its configuration."""
