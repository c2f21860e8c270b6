"""The stand-in's organization: its resources, and the lineage that follows from them."""
