"""Finds in the store which names mean one dataset or job."""
