"""Limits of what one caller may use of the server, so that it leaves capacity for others."""
