"""Limits what one caller may use of the server, so that capacity is left for others."""
