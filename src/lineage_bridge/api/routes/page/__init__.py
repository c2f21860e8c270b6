"""What the web page keeps on the server."""
