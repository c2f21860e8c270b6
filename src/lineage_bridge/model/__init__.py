"""The values that the parts exchange: answers to questions about the graph, and the state of the server."""
