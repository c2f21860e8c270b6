"""The event log: frames in append-only segment files, one writer, readers in any process."""
