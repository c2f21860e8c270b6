"""Derived rows, kept up in the transaction that brings the facts, and verified against a computation from scratch."""
