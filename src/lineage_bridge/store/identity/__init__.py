"""Finds in the store which names denote the same dataset or job."""
