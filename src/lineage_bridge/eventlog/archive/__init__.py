"""The archive: records that inputs of the form stream have read, stored beside the log, by the positions where they were read."""
