"""Measures of whole graphs: cycles, reach, paths. Pure functions over edges of ids."""
