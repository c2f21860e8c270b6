"""Graph measures: cycles, reach, paths. Pure functions over edges between ids."""
