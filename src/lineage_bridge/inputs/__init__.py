"""Inputs: ways for events to arrive besides HTTP. An input reads streams, and passes their records to `ingest`."""
