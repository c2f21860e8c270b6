"""The objects that statements define, read and write."""
