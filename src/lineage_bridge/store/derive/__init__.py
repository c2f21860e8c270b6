"""Computes derived rows in the transaction that writes the facts, and verifies them against a computation from scratch."""
