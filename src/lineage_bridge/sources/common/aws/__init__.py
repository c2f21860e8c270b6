"""Shared by all clients of Amazon's APIs: credentials, and the meaning of errors."""
