"""AWS Glue: the lineage of tables in the parameters of their definitions in the Data Catalog."""
