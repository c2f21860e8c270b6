"""Converts the graph to other forms (nodes and edges, OpenLineage events), and nodes and edges back to events."""
