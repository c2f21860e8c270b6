"""The kind of sources `google`, which observes the processes of Google Data Lineage."""
