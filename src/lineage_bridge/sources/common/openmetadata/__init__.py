"""Names in OpenMetadata."""
