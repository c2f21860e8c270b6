"""Targets of kind datahub: jobs as aspects by its metadata service, or as events by its OpenLineage endpoint."""
