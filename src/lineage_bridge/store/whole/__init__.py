"""The whole graph at once: inventory, export, analysis."""
