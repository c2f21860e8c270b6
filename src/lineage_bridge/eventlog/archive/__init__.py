"""What inputs of the stream have read, beside the log: records that the graph was made from, by the places where they were read."""
