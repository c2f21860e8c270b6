"""Meaning: frames to facts to flows. Pure; imports only the standard."""
