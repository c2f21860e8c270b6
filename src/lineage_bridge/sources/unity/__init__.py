"""The kind of sources `unity`, which observes a metastore of Databricks Unity Catalog."""
