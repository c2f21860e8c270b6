"""The graph for principals that are limited to namespaces: one rule for each question of `ports.GraphReader`. "Own" is in the glossary."""
