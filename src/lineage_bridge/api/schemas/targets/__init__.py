"""The requests and responses of the routes for targets, to which lineage is published."""
