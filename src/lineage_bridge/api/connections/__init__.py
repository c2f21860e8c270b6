"""Connections of clients: HTTP/1.1 on them, and what they may take."""
