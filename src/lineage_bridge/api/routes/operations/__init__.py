"""Routes that ingest events and operate the server: intake, quarantine, sources, tasks, health."""
