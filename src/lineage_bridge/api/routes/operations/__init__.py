"""Taking events in, and running the server: intake, quarantine, sources, tasks, health."""
