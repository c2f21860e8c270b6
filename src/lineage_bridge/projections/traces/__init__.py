"""What answers say about a column trace beside its flows."""
