"""Erasures: requests, and the proofs of what was erased."""
