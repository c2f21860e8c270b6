"""Routes for the graph as nodes and edges: lists, views as OpenLineage events, imports."""
