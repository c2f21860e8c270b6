"""Inputs: other ways for events to arrive than HTTP. An input reads streams or files, and passes their records to `ingest`."""
