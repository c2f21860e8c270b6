"""The flows between datasets: the shapes of runs, and the flows that are computed from the shapes."""
