"""Derived rows, updated in the transaction that writes the facts, and verified against a computation from scratch."""
