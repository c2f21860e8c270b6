"""Retention: what is kept, and for how long."""
