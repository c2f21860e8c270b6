"""Routes to ingest events and to operate the server: intake, quarantine, sources, tasks, health."""
