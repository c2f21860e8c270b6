"""Events from files: of a folder, or of a bucket of an object store."""
