"""The pipeline on Spark. Only this package imports pyspark."""
