"""Finds the parts of a body that may contain a secret, by fast searches of the bytes before parsing."""
