"""How each connector class names its datasets and topics in its configuration."""
