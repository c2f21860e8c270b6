"""Ingests events from any transport: masks secrets, splits payloads into events, validates these, and appends them to the log."""
