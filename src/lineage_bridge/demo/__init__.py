"""The demo: the streaming pipeline of a fictional shop, from its database to its revenue dashboard, as OpenLineage events."""
