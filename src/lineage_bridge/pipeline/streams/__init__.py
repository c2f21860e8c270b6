"""Inputs of the stream beside the log: what Spark reads of them is judged, archived and folded in one step."""
