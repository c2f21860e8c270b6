"""Ingests events from any transport: masks secrets, splits, validates, appends to the log."""
