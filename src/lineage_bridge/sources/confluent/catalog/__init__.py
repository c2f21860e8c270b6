"""The Stream Catalog: tags, owners, descriptions and business metadata."""
