"""Which source columns each column of a query comes from."""
