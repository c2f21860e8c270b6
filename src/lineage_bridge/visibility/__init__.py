"""The graph as principals limited to namespaces see it: one rule for each question of `ports.GraphReader`. The glossary explains "own"."""
