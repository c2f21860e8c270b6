"""Connections of clients: HTTP/1.1, and limits of connections, sizes and times."""
