"""Sets up the processes that publish to targets, and the API's service for targets."""
