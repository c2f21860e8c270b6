"""What facets that carry lineage state: sources of datasets and columns."""
