"""What facets say of a node: schema versions, search terms."""
