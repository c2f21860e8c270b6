"""Ways in for events besides HTTP: an input reads streams, and hands what it reads to `ingest`."""
