"""The audit log: who changed what, and when a poll should come early."""
