"""The graph as a principal sees it who is limited to namespaces: one rule for each question of `ports.GraphReader`."""
