"""The graph as principals limited to namespaces see it: one rule for each query of `ports.GraphReader`. The glossary explains "own"."""
