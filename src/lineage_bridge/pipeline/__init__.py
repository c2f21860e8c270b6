"""Spark: everything that imports pyspark."""
