"""Reads inputs of the form `stream` with Spark, beside the log. What is read is validated, archived and folded in one step."""
