"""Questions about lineage, runs, schemas and time."""
