"""The kind of sources `glue`, which observes the tables of AWS Glue's Data Catalog."""
