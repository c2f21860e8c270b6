"""Carries out erasures: in the log, the archive, the graph, the state database and every other file of the data folder."""
