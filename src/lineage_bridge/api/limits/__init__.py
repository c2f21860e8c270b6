"""What one caller may take of the server, so that something is left for the others."""
