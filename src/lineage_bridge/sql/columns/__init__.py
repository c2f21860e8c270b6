"""Finds, for each column of a query, the columns of tables from which its value comes."""
