"""What facets contain about a node: schema versions and search terms."""
