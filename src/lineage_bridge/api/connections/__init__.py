"""The HTTP connections of clients, with limits of their number, sizes and times."""
