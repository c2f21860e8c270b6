"""Publishes lineage to other systems: computes the desired state, compares it with the target's, and makes the fewest changes."""
