"""Meaning: records to facts to flows. Pure; imports only the standard."""
