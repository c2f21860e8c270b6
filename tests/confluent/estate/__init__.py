"""The estate: what the stand-in's organization has, and the lineage that follows from it."""
