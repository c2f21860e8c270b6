"""Values that queries of the store return, and that the API and the command line present."""
