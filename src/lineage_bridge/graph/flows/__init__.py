"""Which dataset flows into which: the shapes of runs, and the flows that follow from them."""
