"""Measures of graphs: cycles, reach, paths. Pure functions over edges between ids."""
