"""Routes that answer questions about lineage, runs, schemas and time."""
