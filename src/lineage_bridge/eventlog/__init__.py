"""The event log: records in append-only segment files, one writer, readers in any process."""
