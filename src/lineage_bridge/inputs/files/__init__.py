"""Reads events from files, in a folder or in a bucket of an object store."""
