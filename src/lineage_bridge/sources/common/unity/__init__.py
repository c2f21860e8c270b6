"""Code that the target and the source of Unity Catalog share."""
