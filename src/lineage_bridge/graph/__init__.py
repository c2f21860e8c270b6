"""The graph: converts log records to facts, and facts to flows. Pure; it imports only `openlineage` and `errors`."""
