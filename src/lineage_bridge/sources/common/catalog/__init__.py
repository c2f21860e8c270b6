"""Code that all sources of data catalogs share: it lists a catalog, and converts the assets to events."""
