"""The target Databricks Unity Catalog: jobs and datasets become external metadata, inputs and outputs of jobs external lineage."""
