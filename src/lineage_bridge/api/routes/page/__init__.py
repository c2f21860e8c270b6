"""Routes that the web page is made for: its start page, and the views that it keeps on the server."""
