"""The kind of sources `datahub`, which observes the datasets of DataHub and their lineage."""
