"""Databricks Unity Catalog: jobs and datasets as external metadata, what jobs read and write as external lineage."""
