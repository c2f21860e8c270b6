"""The graph in other forms: nodes and edges, OpenLineage events, and nodes and edges back into events."""
