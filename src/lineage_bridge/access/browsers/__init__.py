"""Lets people log in with a browser at an issuer, and keeps the sessions that follow."""
