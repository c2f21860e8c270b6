"""Databricks Unity Catalog: jobs and datasets as external metadata, inputs and outputs of jobs as external lineage."""
