"""The target AWS Glue: writes the lineage of tables into the parameters of their definitions in the Data Catalog."""
