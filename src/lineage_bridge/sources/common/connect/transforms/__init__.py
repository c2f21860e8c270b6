"""Single message transforms, replayed on topic names and fields, forwards and backwards."""
