"""The graph as nodes and edges: listed, viewed as OpenLineage events, imported."""
