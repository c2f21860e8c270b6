"""Determines which names denote the same dataset or job."""
