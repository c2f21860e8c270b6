"""The demo: a made-up shop's streaming pipeline, from its database to its revenue dashboard, as OpenLineage events."""
