"""The source columns of each column of a query."""
