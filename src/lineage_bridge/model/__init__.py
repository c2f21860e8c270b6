"""Values that the parts of the program exchange: answers to questions about the graph, and the state of the server."""
